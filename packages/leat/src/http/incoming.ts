import { FIELD_WORDS, REQUEST_FIELDS_AT } from "../native/records";
import { type Slab } from "../native/slab";
import { addField, type Fields, LIST, ruleOf } from "./fields";
import { kHeaders, kHeadersCount, NodeIncomingMessage } from "./node_symbols";
import { type LeatSocket } from "./socket";

/** The slab with the request's head, while nothing of it had to be copied. */
export const kSlab = Symbol("leat.slab");
/** Where the request's record begins in the slab, in words. */
export const kAt = Symbol("leat.at");
const kText = Symbol("leat.head");
const kTargetAt = Symbol("leat.targetAt");
const kTargetLength = Symbol("leat.targetLength");
const kUrl = Symbol("leat.url");
const kRawHeaders = Symbol("leat.rawHeaders");

type Bag = Record<symbol, unknown>;

let names: string[] = [];
let nameRules: number[] = [];
/** In which decoding a known name was seen last: one that was not yet needs no look at what is there. */
let seen = new Uint32Array(0);
let decoding = 0;
let hostId = -1;
let expectId = -1;

/** Sets the names that the engine knows by number. */
export function knowNames(known: string[]): void {
    names = known;
    nameRules = known.map(ruleOf);
    seen = new Uint32Array(known.length);
    hostId = known.indexOf("host");
    expectId = known.indexOf("expect");
}

const nodeHeaders = Object.getOwnPropertyDescriptor(NodeIncomingMessage.prototype, "headers") ?? {};

/**
 * A request. It is Node's IncomingMessage, but `url`, `headers` and `rawHeaders` are made from the engine's bytes when
 * they are first looked at.
 */
export class IncomingMessage extends NodeIncomingMessage {
    declare [kSlab]: Slab | null | undefined;
    declare [kAt]: number | undefined;
    declare [kText]: string | undefined;
    declare [kTargetAt]: number;
    declare [kTargetLength]: number;
    declare [kUrl]: string | undefined;
    declare [kRawHeaders]: string[] | undefined;

    constructor(socket: LeatSocket) {
        super(socket);
        this[kText] = undefined;
    }

    // Node's constructor assigns `url` and `rawHeaders`, so these accessors are what it sets.
    // @ts-expect-error Node declares a property; its constructor assigns it, which comes here.
    override get url(): string {
        const url = this[kUrl];
        return url !== undefined || this[kAt] === undefined ? (url as string) : decodedUrl(this);
    }

    override set url(value: string) {
        this[kUrl] = value;
    }

    // @ts-expect-error As for url.
    override get rawHeaders(): string[] {
        const raw = this[kRawHeaders];
        return raw !== undefined || this[kAt] === undefined ? (raw as string[]) : decodedRaw(this);
    }

    override set rawHeaders(value: string[]) {
        this[kRawHeaders] = value;
    }

    // @ts-expect-error Node declares a property for what is an accessor there too.
    override get headers(): Fields {
        const headers = (this as unknown as Bag)[kHeaders] as Fields | null;
        return headers ?? decodedHeaders(this);
    }

    override set headers(value: Fields) {
        (this as unknown as Bag)[kHeaders] = value;
    }
}

/** Gives a fresh request the record at word `at` of `slab` as its head, of whose `count` fields the first `counted` are shown. */
export function attachHead(req: IncomingMessage, slab: Slab, at: number, counted: number): void {
    req[kUrl] = undefined;
    req[kRawHeaders] = undefined;
    req[kSlab] = slab;
    req[kAt] = at;
    (req as unknown as Bag)[kHeadersCount] = counted << 1;
}

/** Lets go of the slab, after copying what is not decoded yet: a request that stays open must not hold the whole slab. */
export function detachHead(req: IncomingMessage): void {
    if (req[kSlab] == null) return;
    if (req[kRawHeaders] === undefined || req[kUrl] === undefined) headText(req);
    req[kSlab] = null;
}

/** Fields that the server itself asks for, as bits. */
export const HOST = 1;
export const EXPECT = 2;

/** Which of `HOST` and `EXPECT` the request has; only the numbers of names are looked at. */
export function notedFields(slab: Slab, at: number): number {
    const count = (slab.word(at + 4) >>> 8) & 0xffff;
    let noted = 0;
    for (let i = 0, w = at + REQUEST_FIELDS_AT + 1; i < count; i++, w += FIELD_WORDS) {
        const id = slab.word(w) >>> 16;
        if (id === hostId) noted |= HOST;
        else if (id === expectId) noted |= EXPECT;
    }
    return noted;
}

/** The method of the request whose record is at word `at`, by the head's own text. */
export function methodText(slab: Slab, at: number): string {
    const headAt = slab.word(at + 7);
    return slab.text(headAt, slab.word(at + 5) - 1 - headAt);
}

/** The target of the request whose record is at word `at`. */
export function targetText(slab: Slab, at: number): string {
    return slab.text(slab.word(at + 5), slab.word(at + 6));
}

/** The head's text, one char a byte. All strings of the request are parts of it. */
function headText(req: IncomingMessage): string {
    const known = req[kText];
    if (known !== undefined) return known;
    const slab = req[kSlab] as Slab;
    const at = req[kAt] as number;
    const headAt = slab.word(at + 7);
    req[kTargetAt] = slab.word(at + 5) - headAt;
    req[kTargetLength] = slab.word(at + 6);
    return (req[kText] = slab.text(headAt, slab.word(at + 8)));
}

function decodedUrl(req: IncomingMessage): string {
    const text = headText(req);
    const at = req[kTargetAt];
    return (req[kUrl] = text.substring(at, at + req[kTargetLength]));
}

function decodedRaw(req: IncomingMessage): string[] {
    const text = headText(req);
    const slab = req[kSlab];
    if (slab == null) return (req[kRawHeaders] = parsedFields(text));
    const at = req[kAt] as number;
    const headAt = slab.word(at + 7);
    const count = (slab.word(at + 4) >>> 8) & 0xffff;
    const out: string[] = [];
    for (let i = 0, w = at + REQUEST_FIELDS_AT; i < count; i++, w += FIELD_WORDS) {
        const nameAt = slab.word(w) - headAt;
        const valueAt = slab.word(w + 2) - headAt;
        out.push(text.substring(nameAt, nameAt + (slab.word(w + 1) & 0xffff)), text.substring(valueAt, valueAt + slab.word(w + 3)));
    }
    return (req[kRawHeaders] = out);
}

function decodedHeaders(req: IncomingMessage): Fields {
    const slab = req[kSlab];
    // A request of Node's own server whose prototype inherits from ours, or one that was parsed again.
    if (slab == null || req[kRawHeaders] !== undefined) return nodeHeaders.get?.call(req) as Fields;
    const text = headText(req);
    const at = req[kAt] as number;
    const headAt = slab.word(at + 7);
    const count = ((req as unknown as Bag)[kHeadersCount] as number) >>> 1;
    const join = Boolean((req as unknown as { joinDuplicateHeaders: unknown }).joinDuplicateHeaders);
    const out: Fields = {};
    decoding = (decoding + 1) >>> 0;
    for (let i = 0, w = at + REQUEST_FIELDS_AT; i < count; i++, w += FIELD_WORDS) {
        const lengthAndId = slab.word(w + 1);
        const valueAt = slab.word(w + 2) - headAt;
        const value = text.substring(valueAt, valueAt + slab.word(w + 3));
        const id = lengthAndId >>> 16;
        if (id !== 0 && seen[id] !== decoding && nameRules[id] !== LIST) {
            seen[id] = decoding;
            out[names[id] as string] = value;
        } else if (id !== 0) {
            addField(out, names[id] as string, nameRules[id] as number, value, join);
        } else {
            const nameAt = slab.word(w) - headAt;
            const name = text.substring(nameAt, nameAt + (lengthAndId & 0xffff)).toLowerCase();
            addField(out, name, ruleOf(name), value, join);
        }
    }
    return ((req as unknown as Bag)[kHeaders] = out);
}

/** The fields of a head that the engine has checked: a line each after the request line, up to the empty one. */
function parsedFields(text: string): string[] {
    const out: string[] = [];
    let at = text.indexOf("\n") + 1;
    while (at < text.length) {
        const end = text.indexOf("\n", at);
        const line = text.substring(at, end === -1 ? text.length : end);
        const colon = line.indexOf(":");
        if (colon <= 0) break;
        out.push(line.substring(0, colon), trimmed(line, colon + 1));
        if (end === -1) break;
        at = end + 1;
    }
    return out;
}

/** The value without white space around it (and without the carriage return). */
function trimmed(line: string, from: number): string {
    let start = from;
    let end = line.length;
    while (start < end && isSpace(line.charCodeAt(start))) start++;
    while (end > start && (isSpace(line.charCodeAt(end - 1)) || line.charCodeAt(end - 1) === 13)) end--;
    return line.substring(start, end);
}

function isSpace(code: number): boolean {
    return code === 32 || code === 9;
}
