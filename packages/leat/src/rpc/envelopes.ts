// gRPC's framing of messages: a byte of flags, four of length, the message. Whatever the client speaks, the engine gives this.
import { type IncomingMessage } from "node:http";
import { connect } from "./libraries";

const HEAD_BYTES = 5;

/** The message with its five bytes before it. One copy. */
export function enveloped(message: Uint8Array): Buffer {
    const bytes = Buffer.allocUnsafe(HEAD_BYTES + message.length);
    bytes[0] = 0;
    bytes.writeUInt32BE(message.length, 1);
    bytes.set(message, HEAD_BYTES);
    return bytes;
}

/** Takes messages out of pieces of a body. */
export class Envelopes {
    readonly #bytesMax: number;
    #pieces: Buffer[] = [];
    #bytes = 0;

    /** Longest message, in bytes; a longer one is `resource_exhausted`. */
    constructor(bytesMax: number) {
        this.#bytesMax = bytesMax;
    }

    /** The next piece; nothing of it is copied unless a message ends in a later one, and then once. */
    push(piece: Buffer): void {
        this.#pieces.push(piece);
        this.#bytes += piece.length;
    }

    /** The next whole message; `undefined` until more has come. */
    next(): Buffer | undefined {
        if (this.#bytes < HEAD_BYTES) return undefined;
        const head = this.#front(HEAD_BYTES);
        const length = head.readUInt32BE(1);
        if (length > this.#bytesMax) throw refused(`message of ${String(length)} bytes, more than readMaxBytes (${String(this.#bytesMax)})`, "ResourceExhausted");
        if (head[0] !== 0) throw refused("compressed message where none was announced", "Internal");
        const end = HEAD_BYTES + length;
        if (this.#bytes < end) return undefined;
        const held = this.#front(end);
        this.#pieces[0] = held.subarray(end);
        if (held.length === end) this.#pieces.shift();
        this.#bytes -= end;
        return held.subarray(HEAD_BYTES, end);
    }

    /** Whether the body ended inside of a message. */
    get isBroken(): boolean {
        return this.#bytes > 0;
    }

    /** The first piece, with at least so many bytes, which there are. */
    #front(bytes: number): Buffer {
        let [first = Buffer.alloc(0)] = this.#pieces;
        if (first.length < bytes) {
            first = Buffer.concat(this.#pieces);
            this.#pieces = [first];
        }
        return first;
    }
}

/** The messages of a request as they come; the client is held back while nobody asks for the next. */
export async function* messages(request: IncomingMessage, bytesMax: number): AsyncGenerator<Buffer> {
    const envelopes = new Envelopes(bytesMax);
    // An implementation may leave before the client has sent all: its reply goes on, and so must the connection.
    for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        envelopes.push(piece);
        for (let message = envelopes.next(); message !== undefined; message = envelopes.next()) yield message;
    }
    // Where the call ended first, nobody asks for what was left.
    if (envelopes.isBroken && request.complete) throw refused("the request ended inside of a message", "InvalidArgument");
}

export function refused(message: string, code: "ResourceExhausted" | "Internal" | "InvalidArgument" | "Unimplemented"): Error {
    const { ConnectError, Code } = connect();
    return new ConnectError(message, Code[code]);
}
