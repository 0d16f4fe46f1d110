// What brings one request to one origin and its response back. Implementations are siblings of this file.
import { type Readable } from "node:stream";
import { type Signal } from "../../middleware/context";
import { type Awaitable, type Headers } from "../../middleware/message";

/** What goes out: one try, with the body's bytes. */
export interface ConnectionRequest {
    /** Scheme, host and port: `http://127.0.0.1:9200`. */
    readonly origin: string;
    readonly method: string;
    /** Path and query, as they go to the wire. */
    readonly path: string;
    readonly headers: Headers;
    /** Undefined for none. An iterable is read once, as fast as the peer takes it. */
    readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
    /** Ends the try at once, also while its body comes; what was opened for it is closed. */
    readonly signal: Signal;
    /** Whether the body is to be handed on as it comes. */
    readonly asStream: boolean;
    /** The most bytes of the body as they come; more is `response.limit`, found before they are kept. */
    readonly rawBytesMax: number;
}

/** What comes back. */
export interface ConnectionResponse {
    readonly status: number;
    readonly headers: Headers;
    /** The whole body's bytes; with `asStream` a stream that reads no further than it is read. */
    readonly body: Uint8Array | Readable;
    /** What came after the body; of a stream it is there once that has ended. Left out: none. */
    readonly trailers?: Headers | undefined;
}

/**
 * Sends requests. It keeps what it opens for later ones, and never sends a request twice by itself.
 *
 * A try fails with a `TransportError` whose code begins with `connection.`, with `response.limit`, or with the signal's reason. Which
 * of them it is says whether the peer can have seen the request, so an implementation that is not sure says `connection.broken`.
 */
export interface Connection {
    /** For messages: "undici". */
    readonly name: string;
    send(request: ConnectionRequest): Awaitable<ConnectionResponse>;
    /** Ends what is under way (`connection.broken`), and closes all. */
    close(): Promise<void>;
}
