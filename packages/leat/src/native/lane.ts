// This thread's lane: batches of records from the engine, and one batch of records back to it per turn of the event loop.
import { Socket, type OnReadOpts, type SocketConstructorOpts } from "node:net";
import { addon } from "./load";
import { type Addon, type Listening, type ListenOptions, type Reason, type RpcSettings, type Settings } from "./addon";
import { LAST, KEEP, OUT_END, OUT_WORDS, RAW, RESPONSE } from "./records";
import { Slab } from "./slab";

export type { Listening, ListenOptions, Reason, RpcSettings, Settings };

/** Handles the records from word `at` up to word `end`. Must not throw. */
export type Receiver = (slab: Slab, at: number, end: number) => void;

/** Slabs of a lane: what waits for this thread is bounded by them. */
const SLABS = 4;

/** Parts of slabs that a turn may bring: the rest comes with the next one. */
const PARTS_MAX = 16;

/** Words that tell one of them. */
const PART_WORDS = 3;

/** Bytes that are read at once of those that only wake. */
const WAKE_BYTES = 16;

/** Records of one batch; a batch that is full leaves at once. */
const RECORDS_MAX = 4096;

/** Chars of a batch's text after which it leaves at once. */
const TEXT_CHARS_MAX = 1 << 20;

/** Buffers from this length on stay where they are until the engine has sent them. The addon has the same number. */
const LENT_BYTES_MIN = 65_536;

/** Whether the engine sends `chunk` from where it is: it is its owner's again only when the engine says so. */
export function isLent(chunk: string | Uint8Array): boolean {
    return typeof chunk !== "string" && chunk.byteLength >= LENT_BYTES_MIN;
}

/** Slabs for long pieces of bodies. */
const BODIES = 8;

/** Bytes of one of them: what the engine reads at once. */
const BODY_BYTES = 131_072;

/** How the chars of a record's text become bytes, where they are not ASCII. */
export const LATIN1 = 0;
export const UTF8 = 1;

// Captured: fake timers replace the globals, and the engine can't wait for those.
const later = setImmediate;

const words = new Uint32Array(RECORDS_MAX * OUT_WORDS);
const encodings = new Uint8Array(RECORDS_MAX);
const parts = new Uint32Array(PARTS_MAX * PART_WORDS);
let native: Addon | undefined;
/** The lane's number. */
let number = 0;
/** Becomes readable when the engine has something. */
let bell: Socket | undefined;
const slabs: Slab[] = [];
/** What comes for servers, and for calls: undefined where nobody has asked for it. */
let receive: Receiver | undefined;
let receiveCalls: Receiver | undefined;
let settleTurn: () => void = () => undefined;

let count = 0;
let text = "";
let buffers: Uint8Array[] = [];
let batch = 1;
let scheduled = false;

/** Opens the lane for servers. `settle` runs at the end of each turn of the event loop that has something to send. */
export function openLane(receiver: Receiver, settle: () => void): Addon {
    const opened = attach();
    receive = receiver;
    settleTurn = settle;
    return opened;
}

/** Opens the lane for calls. */
export function openLaneForCalls(receiver: Receiver): Addon {
    const opened = attach();
    receiveCalls = receiver;
    return opened;
}

/** Opens the lane at the first call. */
function attach(): Addon {
    if (native !== undefined) return native;
    const opened = addon();
    const attached = opened.attach(words, parts);
    number = attached.lane;
    native = opened;
    bell = new Socket(bellOptions(attached.fd)).unref();
    for (let i = 0; i < SLABS; i++) {
        const slab = new Slab();
        slabs.push(slab);
        opened.supply(number, slab.bytes);
    }
    for (let i = 0; i < BODIES; i++) supplyBody(opened, i, Buffer.allocUnsafeSlow(BODY_BYTES));
    // What was answered before the process ends is not lost.
    process.once("exit", deliver);
    return opened;
}

/** The addon of the open lane. */
export function lane(): Addon {
    if (native === undefined) throw new Error("the lane is not open");
    return native;
}

/** The number of the open lane, for the functions of the addon that take it. */
export function laneNumber(): number {
    return number;
}

/** Who needs the event loop: servers and their connections, calls. */
let isHeldByServers = false;
let isHeldByCalls = false;

/** Makes the lane keep the event loop alive, or lets the loop end though the lane is open. */
export function holdLoop(hold: boolean): void {
    isHeldByServers = hold;
    if (!isHeldByCalls) hang(hold);
}

/** The same for calls. */
export function holdLoopForCalls(hold: boolean): void {
    isHeldByCalls = hold;
    if (!isHeldByServers) hang(hold);
}

function hang(hold: boolean): void {
    if (hold) bell?.ref();
    else bell?.unref();
}

/** The number of the batch that is being filled: an index of a record is good as long as it stays the same. */
export function batchNumber(): number {
    return batch;
}

/** Adds a record and gives its index. `chars` of text and `bufferCount` buffers must have been added with it. */
export function pushRecord(kind: number, flags: number, id: number, fourth: number, fifth: number): number {
    if (count === RECORDS_MAX) deliver();
    const at = count * OUT_WORDS;
    words[at] = kind | (flags << 8);
    words[at + 1] = id;
    words[at + 2] = 0;
    words[at + 3] = 0;
    words[at + 4] = fourth;
    words[at + 5] = fifth;
    encodings[count] = LATIN1;
    schedule();
    return count++;
}

/** Adds a record whose bytes are `chars`, and gives its index. */
export function pushText(kind: number, flags: number, id: number, status: number, headChars: number, chars: string, encoding: number): number {
    if (count === RECORDS_MAX || text.length > TEXT_CHARS_MAX) deliver();
    const at = count * OUT_WORDS;
    words[at] = kind | (flags << 8);
    words[at + 1] = id;
    words[at + 2] = chars.length;
    words[at + 3] = 0;
    words[at + 4] = status;
    words[at + 5] = headChars;
    encodings[count] = encoding;
    text += chars;
    schedule();
    return count++;
}

/** Adds a buffer to record `index`, which must be the newest. A short one is copied: its owner may change it at once. */
export function addBuffer(index: number, bytes: Uint8Array): void {
    addOwnBuffer(index, isLent(bytes) ? bytes : Buffer.from(bytes));
}

/** The same with a buffer that nobody changes until it was sent. */
export function addOwnBuffer(index: number, bytes: Uint8Array): void {
    words[index * OUT_WORDS + 3]!++;
    buffers.push(bytes);
}

/** Whether record `index` of batch `number` is the newest, so that it can take more text or buffers. */
export function isNewest(index: number, number: number): boolean {
    return number === batch && index === count - 1;
}

/** Adds text to record `index`, which must be the newest and hold no buffers. False if it holds some. */
export function addText(index: number, chars: string): boolean {
    const at = index * OUT_WORDS;
    if (words[at + 3] !== 0 || encodings[index] !== LATIN1) return false;
    words[at + 2]! += chars.length;
    text += chars;
    return true;
}

/** Sets flags on record `index` of the batch that is being filled. */
export function addFlags(index: number, flags: number): void {
    words[index * OUT_WORDS]! |= flags << 8;
}

/** Takes `flags` back from record `index` if it is the end of a reply that has not left yet. False if it has left. */
export function dropFlags(index: number, number: number, flags: number): boolean {
    if (number !== batch || index < 0) return false;
    const at = index * OUT_WORDS;
    if ((words[at]! & (LAST << 8)) === 0) return false;
    words[at]! &= ~(flags << 8);
    return true;
}

/** Ends an exchange: on its last record if that has not left yet, else by one of its own. */
export function pushEnd(index: number, number: number, id: number, keep: boolean): number {
    const flags = keep ? LAST | KEEP : LAST;
    // Raw bytes end by a record of their own, since nobody counted them.
    if (number === batch && index >= 0 && (words[index * OUT_WORDS]! & (RAW << 8)) === 0) {
        // The head may have promised to stay, before the reply was cut off.
        if (!keep) words[index * OUT_WORDS]! &= ~(KEEP << 8);
        addFlags(index, flags);
        return index;
    }
    return pushRecord(OUT_END, flags, id, 0, 0);
}

/** Hands the batch over now. */
function deliver(): void {
    const records = count;
    let chars = text;
    const bytes = buffers;
    count = 0;
    text = "";
    batch++;
    if (chars.length !== 0 && Buffer.byteLength(chars) !== chars.length) chars = encoded(chars, records);
    if (bytes.length === 0) {
        lane().flush(number, records, chars, undefined);
    } else {
        buffers = [];
        lane().flush(number, records, chars, bytes);
    }
}

/** The text with every record's chars turned into bytes in its encoding; their words tell the new lengths. */
function encoded(chars: string, records: number): string {
    let out = "";
    let from = 0;
    for (let i = 0; i < records; i++) {
        const at = i * OUT_WORDS;
        const length = words[at + 2]!;
        const part = chars.slice(from, from + length);
        from += length;
        if (encodings[i] === LATIN1) {
            // Buffer drops what is above U+00FF, as a socket does.
            out += Buffer.from(part, "latin1").toString("latin1");
            continue;
        }
        const head = words[at + 5]!;
        const bytes = Buffer.from(part);
        words[at + 2] = bytes.length;
        if (head !== 0) words[at + 5] = Buffer.byteLength(part.slice(0, head));
        out += bytes.toString("latin1");
    }
    return out;
}

/** Makes the batch leave at the end of this turn. */
export function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    later(onTurnEnd);
}

function onTurnEnd(): void {
    scheduled = false;
    settleTurn();
    deliver();
}

/** The number of the slab that is read now; those before it are lent again already. */
let current = 0;

/** Node's types know `onread` for sockets that connect only. */
function bellOptions(fd: number): SocketConstructorOpts {
    const options: SocketConstructorOpts & { onread: OnReadOpts } = {
        fd,
        readable: true,
        writable: false,
        onread: { buffer: Buffer.allocUnsafeSlow(WAKE_BYTES), callback: onWake },
    };
    return options;
}

/** Takes what the engine has published. The bytes that told of it say nothing more. */
function onWake(): boolean {
    const count = lane().take(number);
    if (count !== 0) schedule();
    for (let i = 0; i < count; i++) takePart(parts[i * PART_WORDS]!, parts[i * PART_WORDS + 1]!, parts[i * PART_WORDS + 2]!);
    return true;
}

function takePart(slab: number, from: number, to: number): void {
    // Nothing keeps a part of a slab: strings and bodies are copies. So one that was left goes round.
    for (; current < slab; current++) lane().supply(number, slabOf(current).bytes);
    const start = from >>> 2;
    const end = to >>> 2;
    if (receiveCalls === undefined) receive?.(slabOf(slab), start, end);
    else if (receive === undefined) receiveCalls(slabOf(slab), start, end);
    else takeMixed(slabOf(slab), start, end, receive, receiveCalls);
}

/** Where there are servers and calls, each of both gets its records, in their order. */
function takeMixed(slab: Slab, start: number, end: number, forServers: Receiver, forCalls: Receiver): void {
    let at = start;
    while (at < end) {
        const isCall = isOfCall(slab, at);
        const from = at;
        do at += slab.word(at + 1);
        while (at < end && isOfCall(slab, at) === isCall);
        (isCall ? forCalls : forServers)(slab, from, at);
    }
}

function isOfCall(slab: Slab, at: number): boolean {
    return (slab.word(at) & 0xff) >= RESPONSE;
}

/** Slabs are numbered in the order of supply, which is the order in which they are left. */
function slabOf(slab: number): Slab {
    return slabs[slab % SLABS] as Slab;
}

const bodies: Buffer[] = [];

function supplyBody(native: Addon, index: number, body: Buffer): void {
    bodies[index % BODIES] = body;
    native.supplyBody(number, body);
}

/**
 * A copy of the piece of a body in slab `index`, which the engine may then fill again. To be taken once, in the order of
 * the records. Memory of the piece's own length: a fresh slab for each would cost more than the copy, in page faults and in
 * collections that V8 starts for the sum of external memory.
 */
export function takeBody(index: number, length: number): Buffer {
    const piece = Buffer.allocUnsafe(length);
    takeBodyTo(index, length, piece, 0);
    return piece;
}

/** The same into memory that is there. */
export function takeBodyTo(index: number, length: number, to: Buffer, at: number): void {
    const body = bodies[index % BODIES] as Buffer;
    body.copy(to, at, 0, length);
    supplyBody(lane(), index, body);
}
