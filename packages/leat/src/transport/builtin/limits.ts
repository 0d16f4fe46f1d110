// Limits of responses' bodies.
import { middleware, type Middleware } from "../../middleware/middleware";
import { call, type BodyLimits } from "../call";
import { countOf, durationOf, objectOf } from "../given";
import { callOf } from "./own_call";

/** What a body may come to; a streamed one too. Defaults: the transport's. */
export interface LimitsOptions {
    /** Bytes as they come. */
    readonly rawBytesMax?: number;
    /** Bytes after decoding. */
    readonly decodedBytesMax?: number;
    /** Decoded bytes to raw bytes, judged from 64 KiB decoded bytes on. */
    readonly ratioMax?: number;
}

/**
 * Tightens the limits of the bodies that calls get; a smaller one stands. A body that passes one ends as `response.limit`, before
 * more of it is kept.
 *
 * @throws {TransportError} `options.invalid`
 */
export function limits(options: LimitsOptions): Middleware<"call"> {
    const given = objectOf("limits", options, ["rawBytesMax", "decodedBytesMax", "ratioMax"]);
    const most: BodyLimits = {
        rawBytesMax: countOf("limits.rawBytesMax", given["rawBytesMax"], Number.MAX_SAFE_INTEGER),
        decodedBytesMax: countOf("limits.decodedBytesMax", given["decodedBytesMax"], Number.MAX_SAFE_INTEGER),
        ratioMax: durationOf("limits.ratioMax", given["ratioMax"], Infinity, "a number above 0, or Infinity"),
    };
    return middleware({
        name: "limits",
        scope: "call",
        reads: [call],
        onRequest(context) {
            callOf(context).limitTo(most);
            return undefined;
        },
    });
}
