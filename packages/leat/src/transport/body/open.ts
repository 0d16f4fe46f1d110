// One try's stream of a body.
import { Readable } from "node:stream";
import { TransportError } from "../error";
import { type BodySource, type FactoryBody, type OnceBody } from "./body";

/** A body that is being sent. */
export interface Opened {
    /** Bytes, if they are known. */
    readonly length: number | undefined;
    /** To be read once. A source that fails ends it with `request.body_failed`. */
    bytes(): AsyncGenerator<Uint8Array, void, undefined>;
    /** Lets go of a stream that was not read to its end. */
    readonly close: () => void;
}

/**
 * Opens a body for one try.
 * @throws {TransportError} `request.body_used`, `request.body_failed`, `request.invalid`
 */
export function open(body: FactoryBody | OnceBody): Opened {
    let source: BodySource;
    try {
        source = body.open();
    } catch (cause) {
        throw cause instanceof TransportError ? cause : bodyFailed(cause);
    }
    // A factory may give anything, since its types are not checked everywhere.
    if (typeof source !== "object" || (source as unknown) === null || !(Symbol.asyncIterator in source)) throw new TransportError("request.invalid", "the function of the body made no stream; it returns a Readable, or an async iterable of bytes");
    const iterator = source[Symbol.asyncIterator]();
    let isDone = false;
    return {
        length: body.byteLength,
        async *bytes() {
            for (;;) {
                let step: IteratorResult<Uint8Array | string>;
                try {
                    step = await iterator.next();
                } catch (cause) {
                    isDone = true;
                    throw bodyFailed(cause);
                }
                if (step.done === true) {
                    isDone = true;
                    return;
                }
                yield typeof step.value === "string" ? Buffer.from(step.value) : step.value;
            }
        },
        close: () => {
            if (isDone) return;
            isDone = true;
            // A stream that waits for its next piece would not notice `return` before that came.
            if (source instanceof Readable) source.destroy();
            else iterator.return?.().then(undefined, () => undefined);
        },
    };
}

function bodyFailed(cause: unknown): TransportError {
    return new TransportError("request.body_failed", "the body failed while it was read", { cause });
}

