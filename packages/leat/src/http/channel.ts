import { type AsyncResource } from "node:async_hooks";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { ACK, BY_RESET, INTERIM, KEEP, OUT_ABORT, OUT_CLOSE, OUT_DATA, OUT_DESTROY, OUT_END, OUT_HEAD, OUT_OPAQUE, OUT_READ, LAST, RAW, READS_ON } from "../native/records";
import { addBuffer, addFlags, addText, batchNumber, dropFlags, isNewest, LATIN1, pushEnd, pushRecord, pushText, UTF8, isLent } from "../native/lane";
import { type Taking } from "./body";
import { type Core } from "./core";
import { type Repeated } from "./incoming";
import { hold, release } from "./refs";
import { LeatSocket } from "./socket";
import { tlsSocketFor } from "./tls_socket";

/** Who is at the other end of a connection. */
export interface Facts {
    remoteAddress: string;
    remotePort: number;
    localAddress: string;
    localPort: number;
    family: string | undefined;
    /** A Unix socket, which has no addresses. */
    local: boolean;
    tls: boolean;
    serverName: string;
    alpn: string;
    h2: boolean;
    handshake: Handshake | undefined;
}

/** What a TLS handshake settled. */
export interface Handshake {
    /** `TLSv1.2` or `TLSv1.3`. */
    version: string;
    /** The cipher suite by its standard name. */
    cipher: string;
    /** Why the client's certificate can't be trusted, in OpenSSL's word for it; empty where it can, or where there is none. */
    problem: string;
    /** The client's certificate in DER form, if it showed one. */
    certificate: Buffer | undefined;
}

/** Consumed body bytes that are saved up for one READ. The engine's first 256 KiB are four times that. */
const CREDIT_STEP = 65_536;

/** Strings that are shorter go as text, which is copied once more than a buffer but needs none. */
const TEXT_CHARS_MAX = 16_384;

/** So few bytes fit into what the system sends for a socket by itself, even if the process ends. */
const LEFT_BYTES_MAX = 16_384;

/** Within this the engine gives such a socket's last bytes to the system. */
const LEAVE_MS = 200;

/** How far a channel's current exchange has come. */
export const enum Mode {
    /** Requests and replies. */
    Http,
    /** Raw bytes both ways. */
    Opaque,
    /** The socket is closed for good. */
    Closed,
}

/** Exchanges that the engine still has something to say about. */
export const exchanges = new Map<number, Channel>();

/** One HTTP/1 connection with its current exchange, or one HTTP/2 stream. */
export class Channel {
    readonly core: Core;
    /** The connection's id. */
    readonly id: number;
    readonly facts: Facts;
    readonly h2: boolean;
    readonly socket: LeatSocket;
    mode = Mode.Http;
    exchange = 0;
    /** The request that is being answered. */
    req: IncomingMessage | null = null;
    res: ServerResponse | null = null;
    /** The request whose body is arriving. It may have been answered already. */
    body: IncomingMessage | null = null;
    /** Who takes the request's body as a whole, if somebody does. */
    taking: Taking | null = null;
    /** The async context of the exchange. */
    resource: AsyncResource | null = null;
    /** The request has no body, and its end is told when somebody reads. */
    endOwed = false;
    bodyDone = true;
    headSent = false;
    replyDone = true;
    /** The program is just being told of the request. */
    telling = false;
    /** Whether 'finish' of the reply is looked after. */
    hooked = false;
    /** The call of a listener that sent a reply nobody listens to, or 0. */
    sentIn = 0;
    /**
     * The reply's bytes are out, but the exchange waits for the end of the request, whose body the engine would skip: over
     * HTTP/1.1 the reply's end waits with it.
     */
    endWaits = false;
    /** The reply was the last one: the engine closes the connection after it. */
    ending = false;
    requests = 0;
    /** A connection of HTTP/2 has had a stream, which is a channel of its own. */
    hasStreamed = false;
    /** Listeners of the socket's 'close' from before the request. */
    closeListeners = 1;
    /** The newest request's fields, for the next one. */
    repeated: Repeated | null = null;
    /** The peer ended its direction of an upgraded connection. */
    ended = false;
    /** Whether the connection keeps the process alive. */
    counted = false;
    /** The engine has closed the connection. */
    gone = false;
    /** Trailers of an HTTP/2 reply that is finished. */
    trailer = "";
    private registered = false;
    /** The engine took the exchange over because of a fault, and closes the connection after it. */
    faulty = false;
    /** Says what is wrong with further bytes of a connection whose bytes were no request. */
    refusal: ((packet: Buffer) => Error | undefined) | null = null;
    /** Record and batch of the newest bytes of the exchange. */
    private record = -1;
    private batch = 0;
    /** Bytes sent since the engine last told that all is taken. */
    private unacknowledged = 0;
    /** Called when the engine tells that. */
    private acknowledged: (() => void) | null = null;
    private head: ((bytes: Buffer) => void) | null = null;
    /** Whether nobody takes body bytes for now. */
    paused = false;
    private credit = 0;
    /** The process may end though the connection is open, as long as nothing more is sent. */
    private resting = false;
    private stirred = false;

    constructor(core: Core, id: number, facts: Facts, h2: boolean) {
        this.core = core;
        this.id = id;
        this.facts = facts;
        this.h2 = h2;
        this.socket = this.facts.tls ? tlsSocketFor(this, core.highWaterMark) : new LeatSocket(this, core.highWaterMark);
    }

    /** Keeps the process alive until the connection ends. */
    holdProcess(): void {
        if (this.counted || this.gone || this.h2) return;
        this.counted = true;
        hold();
    }

    /** Lets the process end though the connection is open. */
    releaseProcess(): void {
        if (!this.counted) return;
        this.counted = false;
        release();
    }

    /**
     * The peer has ended its side of a connection that was taken over: from now on only what is still to be sent keeps the
     * process alive, as with libuv's handles, which are not active when there is nothing to read.
     */
    rest(): void {
        if (this.acknowledged !== null || this.socket.writableEnded) return;
        this.stirred = false;
        this.onTaken(() => {
            if (this.stirred || !this.counted) return;
            this.releaseProcess();
            this.resting = true;
        });
        pushRecord(OUT_DATA, ACK, this.exchange, 0, 0);
    }

    /** Something is sent after all. */
    private stir(): void {
        this.stirred = true;
        if (!this.resting) return;
        this.resting = false;
        this.holdProcess();
    }

    /** Starts exchange `id`. */
    open(id: number, hasBody: boolean): void {
        if (this.registered) exchanges.delete(this.exchange);
        this.registered = false;
        this.exchange = id;
        this.bodyDone = !hasBody;
        this.headSent = false;
        this.replyDone = false;
        this.endWaits = false;
        this.hooked = false;
        this.sentIn = 0;
        this.record = -1;
        this.unacknowledged = 0;
        this.acknowledged = null;
        this.paused = false;
        this.credit = 0;
        this.requests++;
    }

    /** Whether the connection was taken over for raw bytes. */
    get isOpaque(): boolean {
        return this.mode === Mode.Opaque;
    }

    /** Whether the exchange is over for both directions, and nobody waits for the engine's word about it. */
    get done(): boolean {
        return this.replyDone && this.bodyDone && this.acknowledged === null;
    }

    /** Lets records find the exchange. Most are over before that is needed. */
    register(): void {
        this.registered = true;
        exchanges.set(this.exchange, this);
    }

    /** Forgets the exchange once it is over. */
    release(): void {
        if (!this.registered || !this.done || this.mode !== Mode.Http) return;
        this.registered = false;
        exchanges.delete(this.exchange);
        if (this.h2) this.core.channels.delete(this);
    }

    /** Sends what was written to the socket. Calls back at once, or when the engine has taken it if much is under way. */
    write(chunk: string | Uint8Array, encoding: BufferEncoding, callback: () => void): void {
        const bytes = this.put(chunk, encoding);
        this.count(bytes, isLent(chunk), callback);
    }

    /** As `write`, for several chunks at once. */
    writeAll(chunks: { chunk: string | Uint8Array; encoding: BufferEncoding }[], callback: () => void): void {
        let bytes = 0;
        let lent = false;
        for (const { chunk, encoding } of chunks) {
            bytes += this.put(chunk, encoding);
            lent ||= isLent(chunk);
        }
        this.count(bytes, lent, callback);
    }

    /** The whole rest of the reply went out by record `index`, past the socket; all but its end over HTTP/1.1, if the exchange `waits`. */
    replied(index: number, number: number, keep: boolean, waits: boolean): void {
        this.endWaits = waits;
        this.record = index;
        this.batch = number;
        this.headSent = true;
        this.replyDone = true;
        this.ending = !keep;
    }

    /** Whether `bytes` more are so many that their sender has to wait. */
    overflows(bytes: number): boolean {
        return this.unacknowledged + bytes > this.core.unacknowledgedMax;
    }

    /** Calls back when the engine has taken everything. */
    onTaken(callback: () => void): void {
        this.acknowledged = callback;
    }

    /** The engine has taken everything up to the record that asked. */
    taken(): void {
        this.unacknowledged = 0;
        const callback = this.acknowledged;
        this.acknowledged = null;
        callback?.();
        this.release();
    }

    /**
     * Ends the reply; `keep` leaves the connection open for the next request. With the reply's end the engine skips what
     * is left of the request's body, so the end waits if that is `wanted`. Over HTTP/2 it leaves at once, and the engine is
     * told to go on with the request.
     */
    endReply(keep: boolean, wanted: boolean): void {
        const waits = wanted && keep && !this.bodyDone;
        if (this.replyDone) {
            if (!this.endWaits || waits) return;
            this.endWaits = false;
            if (this.h2) {
                this.forgoBody();
                return;
            }
        } else {
            this.replyDone = true;
            this.ending = !keep;
            this.endWaits = waits;
            if (waits && !this.h2) return;
        }
        this.sendEnd(keep);
    }

    /** The request's body is complete, or of no interest any more. */
    endBody(): void {
        this.bodyDone = true;
        this.body = null;
        if (this.endWaits && this.res === null) {
            this.endWaits = false;
            if (!this.h2) this.sendEnd(true);
        }
        this.release();
    }

    private sendEnd(keep: boolean): void {
        if (this.h2) {
            this.endStream((this.res as unknown as { _trailer: string } | null)?._trailer ?? this.trailer);
        } else {
            this.record = pushEnd(this.record, this.batch, this.exchange, keep);
            this.batch = batchNumber();
        }
        this.release();
    }

    /** Ends an HTTP/2 reply, with the lines of `trailer` if there are any; the engine reads on where the exchange waits. */
    endStream(trailer: string): void {
        if (trailer !== "") this.record = pushText(OUT_END, LAST, this.exchange, 1, 0, trailer, LATIN1);
        else this.record = pushEnd(this.record, this.batch, this.exchange, true);
        this.batch = batchNumber();
        if (this.endWaits) addFlags(this.record, READS_ON);
    }

    /** Nobody reads what is left of an HTTP/2 request whose reply has ended. Where nothing is, the exchange is over by itself. */
    private forgoBody(): void {
        if (!this.bodyDone && !dropFlags(this.record, this.batch, READS_ON)) pushRecord(OUT_END, LAST, this.exchange, 0, 0);
        this.release();
    }

    /** Takes the connection over for raw bytes. */
    takeOver(): void {
        this.mode = Mode.Opaque;
        this.headSent = true;
        exchanges.set(this.exchange, this);
        pushRecord(OUT_OPAQUE, 0, this.exchange, 0, 0);
        this.record = -1;
    }

    /** Calls back with the first bytes of the connection that was taken over, or none if none are there yet. */
    onHead(callback: (head: Buffer) => void): void {
        this.head = callback;
        // Bytes that are there already come in the same batch.
        this.acknowledged = () => process.nextTick(() => this.giveHead(Buffer.alloc(0)));
        pushRecord(OUT_DATA, ACK, this.exchange, 0, 0);
    }

    /** Gives `bytes` to whoever waits for the head. False if nobody does. */
    giveHead(bytes: Buffer): boolean {
        const callback = this.head;
        if (callback === null) return false;
        this.head = null;
        callback(bytes);
        return true;
    }

    /** The engine took exchange `id` over, whose bytes are no request: what is written goes out as it is. */
    fault(id: number): void {
        this.exchange = id;
        this.mode = Mode.Opaque;
        this.faulty = true;
        this.headSent = true;
        this.replyDone = true;
        this.record = -1;
        exchanges.set(id, this);
    }

    /** A request came for a socket that is destroyed already. */
    refuse(id: number): void {
        pushRecord(OUT_ABORT, 0, id, 0, 0);
    }

    /** Half-closes: nothing more is written to the socket. */
    shutdown(): void {
        if (this.ended) this.stir();
        if (this.mode === Mode.Opaque) pushRecord(OUT_END, 0, this.exchange, 0, 0);
        else if (!this.headSent && !this.replyDone) this.abandon(false);
        else if (!this.replyDone || this.endWaits) this.endReply(false, false);
        else if (!this.ending) this.closeAfterReply();
    }

    /** Closes the connection in place of a reply. */
    private abandon(reset: boolean): void {
        this.replyDone = true;
        this.ending = true;
        pushRecord(OUT_ABORT, reset ? BY_RESET : 0, this.exchange, 0, 0);
    }

    /** The socket was destroyed. What was written before still goes out, as it does with a TCP socket. */
    close(reset: boolean): void {
        const mode = this.mode;
        if (mode === Mode.Closed) return;
        this.mode = Mode.Closed;
        exchanges.delete(this.exchange);
        if (this.h2) this.core.channels.delete(this);
        if (mode === Mode.Opaque) {
            if (!reset) pushRecord(OUT_END, 0, this.exchange, 0, 0);
            if (reset || !this.faulty) pushRecord(OUT_ABORT, reset ? BY_RESET : 0, this.exchange, 0, 0);
        } else if (!this.replyDone || this.endWaits) {
            this.replyDone = true;
            this.endWaits = false;
            // An end without a head would be answered by the engine.
            if (reset || this.h2 || !this.headSent) this.abandon(reset);
            else pushEnd(this.record, this.batch, this.exchange, false);
        } else if (!this.ending && !this.h2) {
            if (reset) pushRecord(OUT_DESTROY, BY_RESET, this.id, 0, 0);
            else this.closeAfterReply();
        }
        this.acknowledged = null;
        this.leave();
    }

    /** Does not hold the process until the peer closes too, which may take its time, if all that was said has surely left. */
    private leave(): void {
        if (this.counted && this.socket.bytesWritten <= LEFT_BYTES_MAX) setTimeout(() => this.releaseProcess(), LEAVE_MS).unref();
    }

    /** Ends a connection between two requests; a reply that is still on its way is not cut off. */
    private closeAfterReply(): void {
        this.ending = true;
        if (dropFlags(this.record, this.batch, KEEP)) return;
        pushRecord(this.requests > 0 && this.bodyDone ? OUT_CLOSE : OUT_DESTROY, 0, this.id, 0, 0);
    }

    /**
     * Ends a connection that has not sent a byte, or that has no stream; one that has begun a request gets the reply, unless it is
     * destroyed before.
     */
    closeIfSilent(): void {
        if (this.ending || this.mode !== Mode.Http) return;
        pushRecord(OUT_CLOSE, 0, this.id, 0, 0);
    }

    /** The engine has closed the connection already: nothing is to be said to it. */
    lost(): void {
        exchanges.delete(this.exchange);
        this.mode = Mode.Closed;
        this.replyDone = true;
        this.bodyDone = true;
        this.acknowledged = null;
    }

    /** Body bytes were handed on; the engine may send as many more once somebody wants them. */
    consumed(bytes: number): void {
        this.credit += bytes;
        if (!this.paused && this.credit >= CREDIT_STEP) this.grant();
    }

    /** Nobody takes body bytes for now. */
    pause(): void {
        this.paused = true;
    }

    /** Somebody reads. */
    resume(): void {
        this.paused = false;
        if (this.credit >= CREDIT_STEP) this.grant();
        if (this.endOwed) {
            this.endOwed = false;
            this.body?.push(null);
        }
    }

    private grant(): void {
        if (!this.bodyDone || this.mode === Mode.Opaque) pushRecord(OUT_READ, 0, this.exchange, this.credit, 0);
        this.credit = 0;
    }

    private count(bytes: number, lent: boolean, callback: () => void): void {
        this.unacknowledged += bytes;
        if (this.mode === Mode.Closed || (!lent && this.unacknowledged <= this.core.unacknowledgedMax)) {
            callback();
            return;
        }
        this.acknowledged = callback;
        if (this.record >= 0 && this.batch === batchNumber()) {
            addFlags(this.record, ACK);
            return;
        }
        // The newest record has left already, so an empty one asks.
        this.record = pushRecord(OUT_DATA, ACK, this.exchange, 0, 0);
        this.batch = batchNumber();
    }

    private put(chunk: string | Uint8Array, encoding: BufferEncoding): number {
        if (this.mode === Mode.Closed || (this.mode === Mode.Http && this.replyDone)) return 0;
        if (this.ended) this.stir();
        if (typeof chunk !== "string") {
            if (chunk.byteLength === 0) return 0;
            if (!isNewest(this.record, this.batch)) this.record = this.start("", LATIN1);
            this.batch = batchNumber();
            addBuffer(this.record, chunk);
            return chunk.byteLength;
        }
        if (chunk.length === 0) return 0;
        return this.putText(chunk, encoding);
    }

    private putText(chunk: string, encoding: BufferEncoding): number {
        const latin = encoding === "latin1" || encoding === "binary" || encoding === "ascii";
        const utf8 = !latin && isUtf8(encoding);
        const bytes = latin ? chunk.length : Buffer.byteLength(chunk, encoding);
        const first = !this.headSent;
        const plain = latin || (utf8 && bytes === chunk.length);
        if (plain && chunk.length <= TEXT_CHARS_MAX) {
            if (isNewest(this.record, this.batch) && !first && addText(this.record, chunk)) return bytes;
            this.record = this.start(chunk, LATIN1);
            this.batch = batchNumber();
            return bytes;
        }
        const header = first ? this.headIn(chunk) : 0;
        if (header > 0) {
            // The head must be text; what follows it may be anything.
            this.record = this.start(chunk.slice(0, header), utf8 ? UTF8 : LATIN1);
            this.batch = batchNumber();
            if (chunk.length > header) addBuffer(this.record, Buffer.from(chunk.slice(header), encoding));
            return bytes;
        }
        return this.put(Buffer.from(chunk, encoding), encoding);
    }

    /** Begins a record with `text`: the reply's head if this is it, or an interim one, or bytes that came from nowhere. */
    private start(text: string, encoding: number): number {
        if (this.headSent) return pushText(OUT_DATA, 0, this.exchange, 0, 0, text, encoding);
        const header = this.headIn(text);
        if (header > 0) {
            this.headSent = true;
            const last = (this.res as unknown as { _last?: boolean } | null)?._last === true;
            return pushText(OUT_HEAD, last ? 0 : KEEP, this.exchange, this.res?.statusCode ?? 0, header, text, encoding);
        }
        if (isInterim(text)) return pushText(OUT_HEAD, INTERIM, this.exchange, Number(text.slice(9, 12)), text.length, text, encoding);
        this.headSent = true;
        return pushText(OUT_HEAD, RAW, this.exchange, 0, text.length, text, encoding);
    }

    /** How many chars of `text` are the head of the reply that is being sent. */
    private headIn(text: string): number {
        const res = this.res as unknown as { _header: string | null } | null;
        const header = res?._header;
        return header && text.startsWith(header) ? header.length : 0;
    }
}

function isUtf8(encoding: string): boolean {
    return encoding === "utf8" || encoding === "utf-8" || !encoding || encoding === "buffer";
}

/** Whether the text is one whole 1xx head (other than 101, which ends HTTP). */
function isInterim(text: string): boolean {
    return text.startsWith("HTTP/1.1 1") && !text.startsWith("HTTP/1.1 101") && text.endsWith("\r\n\r\n");
}
