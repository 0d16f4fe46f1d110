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
    #held: Buffer | undefined;

    /** Longest message, in bytes; a longer one is `resource_exhausted`. */
    constructor(bytesMax: number) {
        this.#bytesMax = bytesMax;
    }

    /** The next piece; nothing of it is copied unless a message ends in a later one. */
    push(piece: Buffer): void {
        this.#held = this.#held === undefined || this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    }

    /** The next whole message; `undefined` until more has come. */
    next(): Buffer | undefined {
        const held = this.#held;
        if (held === undefined || held.length < HEAD_BYTES) return undefined;
        const length = held.readUInt32BE(1);
        if (length > this.#bytesMax) throw refused(`message of ${String(length)} bytes, more than readMaxBytes (${String(this.#bytesMax)})`, "ResourceExhausted");
        if (held[0] !== 0) throw refused("compressed message where none was announced", "Internal");
        const end = HEAD_BYTES + length;
        if (held.length < end) return undefined;
        this.#held = held.length === end ? undefined : held.subarray(end);
        return held.subarray(HEAD_BYTES, end);
    }

    /** Whether the body ended inside of a message. */
    get isBroken(): boolean {
        return this.#held !== undefined && this.#held.length > 0;
    }
}

/** The messages of a request as they come; the client is held back while nobody asks for the next. */
export async function* messages(request: IncomingMessage, bytesMax: number): AsyncGenerator<Buffer> {
    const envelopes = new Envelopes(bytesMax);
    for await (const piece of request as AsyncIterable<Buffer>) {
        envelopes.push(piece);
        for (let message = envelopes.next(); message !== undefined; message = envelopes.next()) yield message;
    }
    if (envelopes.isBroken) throw refused("the request ended inside of a message", "InvalidArgument");
}

export function refused(message: string, code: "ResourceExhausted" | "Internal" | "InvalidArgument" | "Unimplemented"): Error {
    const { ConnectError, Code } = connect();
    return new ConnectError(message, Code[code]);
}
