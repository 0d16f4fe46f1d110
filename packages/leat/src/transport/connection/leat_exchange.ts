// One request and its response by Leat's engine.
import { Readable } from "node:stream";
import { ask, begin, type Caller, CREDIT_BYTES, FAILURE_NOT_PROCESSED, FAILURE_NOT_SENT, FAILURE_PROTOCOL, FAILURE_REFUSED, giveUp, type Outgoing, type Piece, type ResponseHeaders, send } from "../../native/calls";
import { TransportError, type TransportErrorCode } from "../error";
import { type ConnectionRequest, type ConnectionResponse } from "./connection";

// Captured: fake timers replace the global.
const later = setImmediate;

const EMPTY = new Uint8Array(0);
/** What a stream holds before the engine is not asked for more. */
const STREAM_BYTES = 65_536;
/** Bytes of a request's body that are sent before the peer must have taken them. */
const SENT_BYTES_MAX = 65_536;
/** A length that a peer only announces is not allocated beyond this. */
const ANNOUNCED_BYTES_MAX = 1_048_576;

export class Exchange implements Caller {
    /** Its neighbours among those of its connection that are under way. */
    previous: Exchange | undefined = undefined;
    next: Exchange | undefined = undefined;
    readonly #request: ConnectionRequest;
    readonly #resolve: (response: ConnectionResponse) => void;
    readonly #reject: (error: unknown) => void;
    readonly #onOver: (exchange: Exchange) => void;
    #id: number | undefined = undefined;
    #isOver = false;
    #status = 0;
    #headers: ResponseHeaders = {};
    #bytes = 0;
    /** Bytes that were taken and not yet asked for anew. */
    #owed = 0;
    /** The whole body, where its length was announced; it is filled up to `#bytes`. */
    #whole: Buffer | undefined = undefined;
    #pieces: Buffer[] | undefined = undefined;
    #stream: Readable | undefined = undefined;
    #isPaused = false;
    #onTaken: (() => void) | undefined = undefined;

    constructor(request: ConnectionRequest, resolve: (response: ConnectionResponse) => void, reject: (error: unknown) => void, onOver: (exchange: Exchange) => void) {
        this.#request = request;
        this.#resolve = resolve;
        this.#reject = reject;
        this.#onOver = onOver;
    }

    /** Sends the request, unless it was aborted before. */
    start(outgoing: Outgoing): void {
        const { signal, body } = this.#request;
        if (signal.aborted) {
            this.fail(signal.reason);
            return;
        }
        signal.addEventListener("abort", this.#aborted);
        const isWhole = body === undefined || typeof body === "string" || body instanceof Uint8Array;
        this.#id = begin(this, outgoing, isWhole ? (body ?? null) : undefined);
        if (this.#id === undefined) this.fail(new TransportError("connection.failed", "too many calls are under way"));
        else if (!isWhole) void this.#pump(body, this.#id);
    }

    responded(status: number, headers: ResponseHeaders, body: Buffer | undefined, isWhole: boolean): void {
        this.#status = status;
        this.#headers = headers;
        const { asStream, method, rawBytesMax } = this.#request;
        const announced = headers["content-length"];
        const length = typeof announced === "string" && method !== "HEAD" ? Number(announced) : 0;
        if (length > rawBytesMax || (body !== undefined && body.byteLength > rawBytesMax)) {
            this.#tooLong();
            return;
        }
        if (isWhole && !asStream) {
            this.#end();
            this.#resolve({ status, headers, body: body ?? EMPTY });
            return;
        }
        if (asStream) this.#open(body, isWhole);
        else if (length > 0 && length <= ANNOUNCED_BYTES_MAX) this.#whole = Buffer.allocUnsafe(length);
    }

    received(piece: Piece): void {
        const { length } = piece;
        this.#bytes += length;
        if (this.#bytes > this.#request.rawBytesMax) {
            this.#tooLong();
            return;
        }
        this.#owed += length;
        const at = this.#bytes - length;
        if (this.#stream !== undefined) this.#isPaused = !this.#stream.push(piece.copy());
        else if (this.#whole !== undefined && this.#bytes <= this.#whole.length) piece.copyTo(this.#whole, at);
        else if (this.#pieces === undefined) this.#pieces = [piece.copy()];
        else this.#pieces.push(piece.copy());
        if (!this.#isPaused && this.#owed >= CREDIT_BYTES / 2) this.#ask();
    }

    ended(): void {
        const stream = this.#stream;
        this.#end();
        if (stream !== undefined) stream.push(null);
        else this.#resolve({ status: this.#status, headers: this.#headers, body: this.#body() });
    }

    failed(failure: number, why: string): void {
        const [code, what] = codeOf(failure);
        const error = new TransportError(code, `${what}: ${why}`);
        this.#id = undefined;
        const stream = this.#stream;
        if (stream === undefined) {
            this.fail(error);
            return;
        }
        this.#end();
        // Its head may have come with the same batch, and whoever asked for it is first to have it in hand.
        later(() => stream.destroy(error));
    }

    writable(): void {
        const onTaken = this.#onTaken;
        this.#onTaken = undefined;
        onTaken?.();
    }

    /** Ends it with an error; what is under way of it is given up. */
    fail(error: unknown): void {
        if (this.#isOver) return;
        const id = this.#id;
        const stream = this.#stream;
        this.#end();
        if (id !== undefined) giveUp(id);
        if (stream === undefined) this.#reject(error);
        else stream.destroy(error as Error);
    }

    #body(): Uint8Array {
        if (this.#pieces !== undefined) return this.#pieces.length === 1 ? (this.#pieces[0] as Buffer) : Buffer.concat(this.#pieces, this.#bytes);
        return this.#whole ?? EMPTY;
    }

    #open(body: Buffer | undefined, isWhole: boolean): void {
        const stream = new Readable({
            highWaterMark: STREAM_BYTES,
            read: () => {
                if (!this.#isPaused) return;
                this.#isPaused = false;
                if (this.#owed > 0 && !this.#isOver) this.#ask();
            },
            destroy: (error, callback) => {
                // Given up before its end: the rest is not read, and the connection is closed.
                const id = this.#id;
                if (!this.#isOver) {
                    this.#end();
                    if (id !== undefined) giveUp(id);
                }
                callback(error);
            },
        });
        // It may fail before whoever asked has it in hand.
        stream.on("error", () => undefined);
        this.#stream = stream;
        if (body !== undefined) stream.push(body);
        if (isWhole) {
            this.#end();
            stream.push(null);
        }
        this.#resolve({ status: this.#status, headers: this.#headers, body: stream });
    }

    #ask(): void {
        if (this.#id !== undefined) ask(this.#id, this.#owed);
        this.#owed = 0;
    }

    /** Sends a body piece by piece, as fast as the peer takes it. */
    async #pump(body: AsyncIterable<Uint8Array>, id: number): Promise<void> {
        let sent = 0;
        try {
            for await (const piece of body) {
                if (this.#isOver) return;
                sent += piece.byteLength;
                const wantsWord = sent >= SENT_BYTES_MAX;
                if (piece.byteLength > 0) send(id, piece, false, wantsWord);
                if (!wantsWord) continue;
                sent = 0;
                await new Promise<void>((resolve) => (this.#onTaken = resolve));
                // It may have ended meanwhile, which the compiler does not see.
                if (this.#isOver as boolean) return;
            }
            if (!this.#isOver) send(id, undefined, true, false);
        } catch (cause) {
            this.fail(cause instanceof TransportError ? cause : new TransportError("request.body_failed", "the body failed while it was read", { cause }));
        }
    }

    readonly #aborted = (): void => this.fail(this.#request.signal.reason);

    #tooLong(): void {
        const { rawBytesMax } = this.#request;
        this.fail(new TransportError("response.limit", `the body is longer than rawBytesMax, ${rawBytesMax} bytes`, { limit: "rawBytesMax" }));
    }

    #end(): void {
        this.#isOver = true;
        this.#request.signal.removeEventListener("abort", this.#aborted);
        this.#onOver(this);
        // Whoever sends the body looks whether anybody still wants it.
        this.writable();
    }
}

function codeOf(failure: number): readonly [TransportErrorCode, string] {
    switch (failure) {
        case FAILURE_REFUSED:
            return ["request.invalid", "the engine refuses the request, or its body is not as long as it says"];
        case FAILURE_NOT_SENT:
            return ["connection.failed", "no connection came about"];
        case FAILURE_NOT_PROCESSED:
            return ["connection.not_processed", "the peer did nothing with the request"];
        case FAILURE_PROTOCOL:
            return ["connection.protocol", "what came is no HTTP response"];
        default:
            return ["connection.broken", "the connection broke before the response was whole"];
    }
}
