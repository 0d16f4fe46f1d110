// Decodes bodies of responses within the limits of their calls.
import { pipeline, Readable, Transform, type TransformCallback } from "node:stream";
import { type Signal } from "../../../middleware/context";
import { type BodyLimits, RATIO_BYTES_MIN } from "../../call";
import { TransportError } from "../../error";
import { coderNamed, type Coder } from "./coding";

/** Who puts one coding over another does it twice at most; each is a chance to explode. */
const LAYERS_MAX = 2;
/** What is smaller is decoded at once, which takes less than to wait for a thread. */
const SYNC_BYTES_MAX = 16_384;

/**
 * The coders of a `content-encoding`, outermost first; empty if there is nothing to decode.
 * @throws {TransportError} `response.encoding`, for a coding that nobody asked for
 */
export function codersOf(encoding: string): readonly Coder[] {
    const names = encoding
        .toLowerCase()
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== "" && name !== "identity");
    if (names.length > LAYERS_MAX) throw new TransportError("response.encoding", `the response has ${names.length} codings over one another; at most ${LAYERS_MAX} are decoded`);
    return names.reverse().map((name) => {
        const coder = coderNamed(name);
        if (coder === undefined) throw new TransportError("response.encoding", "the response has a content-encoding that was not asked for and is not known here");
        return coder;
    });
}

/**
 * Decodes a whole body: at once if it is small, otherwise on Node's threads until the signal aborts.
 * @throws {TransportError} `response.limit`, `response.encoding`
 */
export function decoded(bytes: Uint8Array, coders: readonly Coder[], limits: BodyLimits, signal: Signal): Uint8Array | Promise<Uint8Array> {
    const [coder, another] = coders;
    if (coder === undefined) return bytes;
    if (another !== undefined || bytes.byteLength > SYNC_BYTES_MAX) return collected(decodedStream(Readable.from([bytes], { objectMode: false }), coders, limits), signal);
    const byRatio = Math.max(RATIO_BYTES_MIN, limits.ratioMax * bytes.byteLength);
    try {
        return coder.decodeSync(bytes, { maxOutputLength: Math.min(limits.decodedBytesMax, byRatio, Number.MAX_SAFE_INTEGER) });
    } catch (error) {
        if ((error as { readonly code?: unknown }).code !== "ERR_BUFFER_TOO_LARGE") throw undecodable(error);
        throw limits.decodedBytesMax <= byRatio ? tooLarge(limits) : tooDense(limits);
    }
}

/** Decodes a body as it is read. Its limits, and what is wrong with it, destroy it. */
export function decodedStream(source: Readable, coders: readonly Coder[], limits: BodyLimits): Readable {
    const decoders = coders.map((coder) => coder.decoder());
    const [outermost] = decoders;
    const bounded = new Bounded(limits, () => outermost?.bytesWritten ?? 0);
    // Errors come out of `bounded`, which gives them their names.
    pipeline([source, ...decoders, bounded], () => undefined);
    return bounded;
}

/** Lets bytes pass as long as they are within the limits. */
class Bounded extends Transform {
    private readonly limits: BodyLimits;
    private readonly rawBytes: () => number;
    private bytes = 0;

    constructor(limits: BodyLimits, rawBytes: () => number) {
        super();
        this.limits = limits;
        this.rawBytes = rawBytes;
    }

    override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
        this.bytes += chunk.length;
        if (this.bytes > this.limits.decodedBytesMax) done(tooLarge(this.limits));
        else if (this.bytes > RATIO_BYTES_MIN && this.bytes > this.limits.ratioMax * this.rawBytes()) done(tooDense(this.limits));
        else done(null, chunk);
    }

    override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
        done(error === null || error instanceof TransportError ? error : undecodable(error));
    }
}

async function collected(stream: Readable, signal: Signal): Promise<Uint8Array> {
    const abort = (): void => void stream.destroy(signal.reason as Error);
    signal.addEventListener("abort", abort);
    try {
        const chunks: Buffer[] = [];
        for await (const chunk of stream) chunks.push(chunk as Buffer);
        return Buffer.concat(chunks);
    } finally {
        signal.removeEventListener("abort", abort);
    }
}

function tooLarge({ decodedBytesMax }: BodyLimits): TransportError {
    return new TransportError("response.limit", `the body is larger than ${decodedBytesMax} bytes when it is decoded (decodedBytesMax)`, { limit: "decodedBytesMax" });
}

function tooDense({ ratioMax }: BodyLimits): TransportError {
    return new TransportError("response.limit", `the body comes to more than ${ratioMax} times its bytes when it is decoded (ratioMax)`, { limit: "ratioMax" });
}

function undecodable(cause: unknown): TransportError {
    return new TransportError("response.encoding", "the body does not decode by its content-encoding", { cause });
}
