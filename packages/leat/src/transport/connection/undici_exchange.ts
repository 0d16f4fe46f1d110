// One request and its response on a dispatcher of undici's.
import { Readable } from "node:stream";
import { type Dispatcher } from "undici";
import { type Headers } from "../../middleware/message";
import { TransportError, type TransportErrorCode } from "../error";
import { type ConnectionRequest, type ConnectionResponse } from "./connection";

const EMPTY = new Uint8Array(0);
/** What a stream holds before undici is told to stop reading. */
const STREAM_BYTES = 65_536;

export class Exchange implements Dispatcher.DispatchHandler {
    isOver = false;
    readonly #request: ConnectionRequest;
    readonly #resolve: (response: ConnectionResponse) => void;
    readonly #reject: (error: unknown) => void;
    /** Undefined until the request has a connection, so that nothing of it can have been sent. */
    #controller: Dispatcher.DispatchController | undefined = undefined;
    #status = 0;
    #headers: Headers = {};
    /** Of a stream: whoever has it finds them there when they have come. */
    #trailers: Record<string, string | readonly string[]> | undefined = undefined;
    #bytes = 0;
    /** Most bodies come in one piece, which needs no list. */
    #first: Uint8Array | undefined = undefined;
    #rest: Uint8Array[] | undefined = undefined;
    #stream: Readable | undefined = undefined;

    constructor(request: ConnectionRequest, resolve: (response: ConnectionResponse) => void, reject: (error: unknown) => void) {
        this.#request = request;
        this.#resolve = resolve;
        this.#reject = reject;
        if (request.signal.aborted) this.#fail(request.signal.reason);
        else request.signal.addEventListener("abort", this.#aborted);
    }

    onRequestStart(controller: Dispatcher.DispatchController): void {
        this.#controller = controller;
        // It waited for a connection, and whoever asked has gone.
        if (this.isOver) controller.abort(new Error("over"));
    }

    onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
        if (status < 200 || this.isOver) return;
        this.#status = status;
        this.#headers = headers;
        const length = headers["content-length"];
        if (typeof length === "string" && Number(length) > this.#request.rawBytesMax && this.#request.method !== "HEAD") {
            this.#tooLong();
            return;
        }
        if (this.#request.asStream) this.#open();
    }

    onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
        if (this.isOver) return;
        this.#bytes += chunk.byteLength;
        if (this.#bytes > this.#request.rawBytesMax) {
            this.#tooLong();
            return;
        }
        if (this.#stream !== undefined) {
            if (!this.#stream.push(chunk)) controller.pause();
        } else if (this.#first === undefined) this.#first = chunk;
        else if (this.#rest === undefined) this.#rest = [this.#first, chunk];
        else this.#rest.push(chunk);
    }

    onResponseEnd(_controller: Dispatcher.DispatchController, trailers: Headers | null | undefined): void {
        if (this.isOver) return;
        this.#end();
        if (this.#stream !== undefined) {
            if (this.#trailers !== undefined) Object.assign(this.#trailers, trailers);
            this.#stream.push(null);
            return;
        }
        const body = this.#rest === undefined ? (this.#first ?? EMPTY) : Buffer.concat(this.#rest, this.#bytes);
        const response = { status: this.#status, headers: this.#headers, body };
        // Most have none, and a member more is one to be carried through each patch.
        this.#resolve(isEmpty(trailers) ? response : { ...response, trailers: trailers ?? undefined });
    }

    onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
        if (!this.isOver) this.#fail(failureOf(error, this.#controller !== undefined));
    }

    #open(): void {
        const stream = new Readable({
            highWaterMark: STREAM_BYTES,
            read: () => this.#controller?.resume(),
            destroy: (error, callback) => {
                // Given up before its end: the rest is not read, and the connection is closed.
                if (!this.isOver) {
                    this.#end();
                    this.#controller?.abort(error ?? new Error("the body was given up"));
                }
                callback(error);
            },
        });
        // It may fail before whoever asked has it in hand.
        stream.on("error", () => undefined);
        this.#stream = stream;
        this.#trailers = {};
        this.#resolve({ status: this.#status, headers: this.#headers, trailers: this.#trailers, body: stream });
    }

    readonly #aborted = (): void => this.#fail(this.#request.signal.reason);

    #tooLong(): void {
        const { rawBytesMax } = this.#request;
        this.#fail(new TransportError("response.limit", `the body is longer than rawBytesMax, ${rawBytesMax} bytes`, { limit: "rawBytesMax" }));
    }

    #fail(error: unknown): void {
        this.#end();
        if (this.#stream !== undefined) this.#stream.destroy(error as Error);
        else this.#reject(error);
        this.#controller?.abort(error instanceof Error ? error : new Error("aborted"));
    }

    #end(): void {
        this.isOver = true;
        this.#request.signal.removeEventListener("abort", this.#aborted);
    }
}

function isEmpty(trailers: Headers | null | undefined): boolean {
    for (const name in trailers) if (Object.hasOwn(trailers, name)) return false;
    return true;
}

/** What undici says, in our words. Its message may have an address; it has no headers and no bodies. */
function failureOf(error: Error & { readonly code?: unknown }, isStarted: boolean): TransportError {
    if (error instanceof TransportError) return error;
    // Not as the cause: it carries the bytes that it failed on, which may be anything.
    if (error.name === "HTTPParserError") return new TransportError("connection.protocol", `what came is no HTTP response: ${error.message}`);
    const code = typeof error.code === "string" ? error.code : "";
    // RFC 9113 section 8.7: a stream that is refused was not processed. Node tells it by its message alone.
    const isRefused = code === "ERR_HTTP2_STREAM_ERROR" && error.message.endsWith("NGHTTP2_REFUSED_STREAM");
    const [ours, what] = kindOf(code, isStarted, isRefused);
    return new TransportError(ours, `${what}${code === "" ? "" : ` (${code})`}: ${error.message}`, { cause: error });
}

function kindOf(code: string, isStarted: boolean, isRefused: boolean): readonly [TransportErrorCode, string] {
    if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED" || code === "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH") return ["request.invalid", "undici refuses the request"];
    if (!isStarted) return ["connection.failed", "no connection came about"];
    if (code === "UND_ERR_HEADERS_OVERFLOW" || code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH") return ["connection.protocol", "what came is no HTTP response"];
    if (isRefused) return ["connection.not_processed", "the peer did nothing with the request"];
    return ["connection.broken", "the connection broke before the response was whole"];
}
