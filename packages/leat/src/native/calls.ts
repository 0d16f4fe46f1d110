// Calls out over this thread's lane: their numbers, the records that they send, and what comes back for them.
import { type Addon, type Destination, type Reason } from "./addon";
import { addBuffer, addOwnBuffer, holdLoopForCalls, lane, LATIN1, laneNumber, openLaneForCalls, pushRecord, pushText, takeBodyTo, UTF8 } from "./lane";
import { readHead, knowHeaderNames } from "./response_head";
import {
    ACK,
    CALL_DATA,
    CALL_END,
    CALL_FAILED,
    CALL_LINES_SHIFT,
    CALL_STREAM,
    CALL_WRITABLE,
    DATA_OWN_SLAB,
    LAST,
    OUT_CALL,
    OUT_CALL_ABORT,
    OUT_CALL_DATA,
    OUT_CALL_READ,
    OUT_HANG_UP,
    RESPONSE,
    RESPONSE_WHOLE,
} from "./records";
import { type Slab } from "./slab";

export { CREDIT_BYTES, FAILURE_NOT_PROCESSED, FAILURE_NOT_SENT, FAILURE_PROTOCOL, FAILURE_REFUSED } from "./records";
export { type Destination } from "./addon";

/** A response's fields by their names in lower case; an array for one that came several times. */
export type ResponseHeaders = Record<string, string | string[]>;

/** Who waits for a call. Nothing here may throw. Nothing comes any more after `isWhole`, `ended` and `failed`, nor after `giveUp`. */
export interface Caller {
    /** Its response has begun, and with `isWhole` this is all of it: `body` is a copy. */
    responded(status: number, headers: ResponseHeaders, body: Buffer | undefined, isWhole: boolean): void;
    /** A piece of the body, which is to be copied before this returns: see `Piece`. */
    received(piece: Piece): void;
    ended(): void;
    /** How it failed (`FAILURE_*`), and why in words. */
    failed(failure: number, why: string): void;
    /** The peer has taken what was sent with `wantsWord`. */
    writable(): void;
}

/** A piece of a body where the engine has left it. To be copied once, within the turn that brought it. */
export class Piece {
    length = 0;
    #slab: Slab | undefined = undefined;
    #at = 0;
    #isOwn = false;

    /** Makes it stand for the record at word `at`. */
    read(slab: Slab, at: number): void {
        this.#slab = slab;
        this.#at = slab.word(at + 3);
        this.#isOwn = slab.word(at) >>> 8 === DATA_OWN_SLAB;
        this.length = slab.word(at + 4);
    }

    copyTo(to: Buffer, at: number): void {
        if (this.#slab === undefined) return;
        if (this.#isOwn) takeBodyTo(this.#at, this.length, to, at);
        else this.#slab.bytes.copy(to, at, this.#at, this.#at + this.length);
        this.#slab = undefined;
    }

    copy(): Buffer {
        const copy = Buffer.allocUnsafe(this.length);
        this.copyTo(copy, 0);
        return copy;
    }

    /** Lets go of it, if nobody has copied it. */
    drop(): void {
        if (this.#slab !== undefined && this.#isOwn) takeBodyTo(this.#at, 0, NONE, 0);
        this.#slab = undefined;
    }
}

const NONE = Buffer.alloc(0);

/** Texts up to this length go with the text of the batch; longer ones as a buffer, of which the engine makes no copy. */
const TEXT_CHARS_MAX = 32_768;
const piece = new Piece();

/** Bits of a call's number that are its place; the others count those that had the place before. */
const INDEX_BITS = 20;
const INDEX_MASK = (1 << INDEX_BITS) - 1;
const GENERATION_MASK = 0x7fffffff >>> INDEX_BITS;

const callers: (Caller | undefined)[] = [];
const generations: number[] = [];
const free: number[] = [];
let underWay = 0;
let clients = 0;

let native: Addon | undefined;
let reasons: Reason[] = [];

function open(): Addon {
    if (native !== undefined) return native;
    const opened = openLaneForCalls(receive);
    knowHeaderNames(opened.names());
    reasons = opened.reasons();
    native = opened;
    return opened;
}

/** A number for who makes calls: its connections are its own. Throws the `AddonError` where there is no addon for this host. */
export function newClient(): number {
    open();
    return clients++;
}

/** Names a place that a client's calls may go to. Throws an error with `LEAT_ARGUMENT`. */
export function destination(place: Destination): number {
    return open().destination(laneNumber(), place);
}

/** Closes a client's connections. Its calls are given up before. */
export function hangUp(client: number): void {
    pushRecord(OUT_HANG_UP, 0, client, 0, 0);
}

/** A request as the lane carries it. */
export interface Outgoing {
    readonly destination: number;
    /** Method, target, and name and value of each field, a line each; chars up to U+00FF. */
    readonly head: string;
    readonly lines: number;
    /** Whether the head is of ASCII alone. */
    readonly isAscii: boolean;
}

/** How many calls may be under way. */
export const CALLS_MAX = INDEX_MASK;

/**
 * Begins a call and gives its number. A `body` that is `undefined` comes piece by piece (`send`); `null` is none. Undefined where too
 * many calls are under way.
 */
export function begin(caller: Caller, { destination: to, head, lines, isAscii }: Outgoing, body: string | Uint8Array | null | undefined): number | undefined {
    const id = numberFor(caller);
    if (id === undefined) return undefined;
    const flags = (lines << CALL_LINES_SHIFT) | (body === undefined ? CALL_STREAM : 0);
    if (typeof body === "string" && isAscii && body.length < TEXT_CHARS_MAX) {
        pushText(OUT_CALL, flags, id, to, head.length, head + body, UTF8);
        return id;
    }
    const index = pushText(OUT_CALL, flags, id, to, head.length, head, LATIN1);
    if (typeof body === "string") addOwnBuffer(index, Buffer.from(body));
    else if (body !== undefined && body !== null && body.byteLength > 0) addBuffer(index, body);
    return id;
}

/** Sends a piece of a body. With `wantsWord` the caller hears when the peer has taken it. */
export function send(id: number, bytes: Uint8Array | undefined, isLast: boolean, wantsWord: boolean): void {
    const index = pushRecord(OUT_CALL_DATA, (isLast ? LAST : 0) | (wantsWord ? ACK : 0), id, 0, 0);
    if (bytes !== undefined && bytes.byteLength > 0) addBuffer(index, bytes);
}

/** Asks for so many more bytes of a response's body. */
export function ask(id: number, bytes: number): void {
    pushRecord(OUT_CALL_READ, 0, id, bytes, 0);
}

/** Ends a call: its connection is closed. If it is over already, nothing happens. */
export function giveUp(id: number): void {
    if (callers[id & INDEX_MASK] === undefined || generations[id & INDEX_MASK] !== id >>> INDEX_BITS) return;
    pushRecord(OUT_CALL_ABORT, 0, id, 0, 0);
    over(id);
}

function numberFor(caller: Caller): number | undefined {
    let index = free.pop();
    if (index === undefined) {
        index = callers.length;
        if (index > INDEX_MASK) return undefined;
        callers.push(undefined);
        generations.push(0);
    }
    callers[index] = caller;
    if (underWay++ === 0) holdLoopForCalls(true);
    return (generations[index]! << INDEX_BITS) | index;
}

function over(id: number): void {
    const index = id & INDEX_MASK;
    callers[index] = undefined;
    generations[index] = (generations[index]! + 1) & GENERATION_MASK;
    free.push(index);
    if (--underWay === 0) holdLoopForCalls(false);
}

function receive(slab: Slab, from: number, end: number): void {
    for (let at = from; at < end; at += slab.word(at + 1)) {
        const id = slab.word(at + 2);
        const index = id & INDEX_MASK;
        const caller = callers[index];
        const isLate = caller === undefined || generations[index] !== id >>> INDEX_BITS;
        if (isLate && (slab.word(at) & 0xff) !== CALL_DATA) continue;
        try {
            take(isLate ? undefined : caller, id, slab, at);
        } catch (error) {
            lane().fatal(error);
        }
    }
}

function take(caller: Caller | undefined, id: number, slab: Slab, at: number): void {
    const word = slab.word(at);
    switch (word & 0xff) {
        case RESPONSE: {
            const isWhole = word >>> 8 === RESPONSE_WHOLE;
            if (isWhole) over(id);
            const bodyLength = slab.word(at + 7);
            caller?.responded(slab.word(at + 3) & 0xffff, readHead(slab, at), bodyLength === 0 ? undefined : slab.copy(slab.word(at + 6), bodyLength), isWhole);
            break;
        }
        case CALL_DATA:
            piece.read(slab, at);
            // The slab of a piece goes back, whoever is still there.
            try {
                caller?.received(piece);
            } finally {
                piece.drop();
            }
            break;
        case CALL_END:
            over(id);
            caller?.ended();
            break;
        case CALL_FAILED:
            over(id);
            caller?.failed(word >>> 8, `${said(slab.word(at + 3))}${slab.word(at + 4) === 0 ? "" : `, ${said(slab.word(at + 4))}`}`);
            break;
        case CALL_WRITABLE:
            caller?.writable();
            break;
        default:
    }
}

function said(number: number): string {
    const reason = reasons[number];
    return reason === undefined ? "unknown" : `${reason.code}: ${reason.text}`;
}
