import { type IncomingMessage as NodeRequest } from "node:http";
import { FIELD_WORDS, REQUEST_FIELDS_AT } from "../native/records";
import { type Slab } from "../native/slab";
import { type Fields, fieldsOf, isShared } from "./fields";
import { kHeaders, kHeadersCount, NodeIncomingMessage } from "./node_symbols";
import { type LeatSocket } from "./socket";

/** The fields of a request, where they are those of the connection's request before: clients repeat themselves. */
export const kRepeated = Symbol("leat.repeated");

type Bag = Record<symbol, unknown>;

const nodeHeaders = Object.getOwnPropertyDescriptor(NodeIncomingMessage.prototype, "headers") ?? {};

/** Longer fields are not kept for comparison with the next request's. */
const REPEATED_CHARS_MAX = 1024;

/** What a connection remembers of its newest request, to decode the next one's fields by comparing. */
export interface Repeated {
    /** The field lines. */
    text: string;
    /** What they hold, once they came twice. */
    raw: string[] | null;
    /** The same as `req.headers` has it, once somebody asked. */
    headers: Fields | null;
}

/** A request. It is Node's IncomingMessage, but what its fields mean is found out once for all requests that repeat them. */
export class IncomingMessage extends NodeIncomingMessage {
    declare [kRepeated]: Repeated | null | undefined;

    constructor(socket: LeatSocket) {
        super(socket);
        this[kRepeated] = null;
    }

    // @ts-expect-error Node's types declare a property for what is an accessor there too.
    override get headers(): Fields {
        return ((this as unknown as Bag)[kHeaders] as Fields | null) ?? decodedHeaders(this);
    }

    override set headers(value: Fields) {
        (this as unknown as Bag)[kHeaders] = value;
    }
}

/** `req.headers[name]`, without making the object if nobody has asked for it. `name` is in lower case. */
export function peekField(req: NodeRequest, name: string): string | string[] | undefined {
    const made = (req as unknown as Bag)[kHeaders] as Fields | null | undefined;
    if (made != null) return made[name];
    const repeated = (req as unknown as Bag)[kRepeated] as Repeated | null | undefined;
    if (repeated == null) return req.headers[name];
    repeated.headers ??= decode(req, repeated.raw as string[]);
    const value = repeated.headers[name];
    // What may be changed is given to one request only.
    return typeof value === "object" ? req.headers[name] : value;
}

/** Gives a fresh request its target and fields from the record at word `at`; at most `shown` fields become headers. */
export function readHead(req: IncomingMessage, last: Repeated | null, slab: Slab, at: number, shown: number): Repeated | null {
    const headAt = slab.word(at + 7);
    // All strings of the request are parts of this one, and hold nothing of the slab.
    const text = slab.text(headAt, slab.word(at + 8));
    const targetAt = slab.word(at + 5) - headAt;
    const targetEnd = targetAt + slab.word(at + 6);
    req.url = text.substring(targetAt, targetEnd);
    const count = (slab.word(at + 4) >>> 8) & 0xffff;
    (req as unknown as Bag)[kHeadersCount] = shown << 1;
    if (count === 0) return null;
    const lines = text.substring(slab.word(at + REQUEST_FIELDS_AT) - headAt);
    if (last === null || last.text !== lines) {
        req.rawHeaders = rawFields(text, headAt, slab, at, count);
        return lines.length > REPEATED_CHARS_MAX ? null : { text: lines, raw: null, headers: null };
    }
    last.raw ??= rawFields(text, headAt, slab, at, count);
    req.rawHeaders = last.raw.slice();
    if (shown === count) req[kRepeated] = last;
    return last;
}

/** Fields that the server itself asks for, as bits. */
export const HOST = 1;
export const EXPECT = 2;

let hostId = -1;
let expectId = -1;

/** Sets the names that the engine knows by number. */
export function knowNames(names: string[]): void {
    hostId = names.indexOf("host");
    expectId = names.indexOf("expect");
}

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

function rawFields(text: string, headAt: number, slab: Slab, at: number, count: number): string[] {
    const out: string[] = [];
    for (let i = 0, w = at + REQUEST_FIELDS_AT; i < count; i++, w += FIELD_WORDS) {
        const nameAt = slab.word(w) - headAt;
        const valueAt = slab.word(w + 2) - headAt;
        out.push(text.substring(nameAt, nameAt + (slab.word(w + 1) & 0xffff)), text.substring(valueAt, valueAt + slab.word(w + 3)));
    }
    return out;
}

function decodedHeaders(req: IncomingMessage): Fields {
    const repeated = req[kRepeated];
    // Undefined in a message of Node's own, whose prototype was made to inherit from ours.
    if (repeated === undefined) return nodeHeaders.get?.call(req) as Fields;
    let headers: Fields;
    if (repeated === null) {
        headers = decode(req, req.rawHeaders);
    } else {
        repeated.headers ??= decode(req, repeated.raw as string[]);
        headers = isShared(repeated.headers) ? decode(req, repeated.raw as string[]) : { ...repeated.headers };
    }
    return ((req as unknown as Bag)[kHeaders] = headers);
}

function decode(req: NodeRequest, raw: string[]): Fields {
    const { joinDuplicateHeaders } = req as unknown as { joinDuplicateHeaders: unknown };
    return fieldsOf(raw, (req as unknown as Bag)[kHeadersCount] as number, Boolean(joinDuplicateHeaders));
}
