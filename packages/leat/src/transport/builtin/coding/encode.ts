// Encodes bodies of requests, each as it was: one that can be sent again stays so.
import { pipeline, Readable } from "node:stream";
import { type Body, FactoryBody, OnceBody, type BodySource } from "../../body/body";
import { type Coder } from "./coding";

/** What is smaller is encoded at once, which takes less than to wait for a thread. */
export const SYNC_BYTES_MAX = 32_768;

/** Encodes bytes that are there: at once if they are few, otherwise on Node's threads. */
export function encoded(bytes: Uint8Array | string, byteLength: number, coder: Coder): Buffer | Promise<Buffer> {
    if (byteLength <= SYNC_BYTES_MAX) return coder.encodeSync(bytes);
    return collected(encodedSource([bytes], coder));
}

/** Encodes a body that comes piece by piece, as it is read. */
export function encodedStream(body: FactoryBody | OnceBody, coder: Coder): Body {
    if (body instanceof FactoryBody) return new FactoryBody(() => encodedSource(body.open(), coder));
    return new OnceBody(lazily(() => encodedSource(body.open(), coder)));
}

function encodedSource(source: BodySource | Iterable<Uint8Array | string>, coder: Coder): Readable {
    const encoder = coder.encoder();
    // An error of the source destroys the encoder with it, and whoever reads that gets it.
    pipeline(Readable.from(source, { objectMode: false }), encoder, () => undefined);
    return encoder;
}

/** The body counts as used when it is read, and not when it is wrapped. */
function lazily(open: () => Readable): BodySource {
    return { [Symbol.asyncIterator]: () => open()[Symbol.asyncIterator]() as AsyncIterator<Uint8Array> };
}

async function collected(stream: Readable): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
}
