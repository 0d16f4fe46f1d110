// A call: what the transport knows of one `request` from its beginning to its end, and middleware may ask.
import { type Signal } from "../middleware/context";
import { slot } from "../middleware/slot";
import { type Clock, type Random } from "./clock";
import { type AttemptReport } from "./error";
import { type Redactor } from "./secret";

/** What a call may say to built-in middleware. */
export interface CallOptions {
    /** Says that a second time does no harm, or does; otherwise the method decides (RFC 9110 section 9.2.2). */
    readonly idempotent?: boolean | undefined;
    /** How often it is tried again at most, in place of the setting of `retry`. */
    readonly retriesMax?: number | undefined;
    /** Whether a try that timed out is tried again, in place of the setting of `retry`. */
    readonly retryOnTimeout?: boolean | undefined;
    /** A name for all calls of this kind, with no ids in it: "GET /users/{id}". For spans, statistics and what is learnt. */
    readonly route?: string | undefined;
    /** The caller's own, for its own middleware. */
    readonly meta?: unknown;
}

/** The limits of a response's body, each in bytes but the last. */
export interface BodyLimits {
    /** As they come. */
    readonly rawBytesMax: number;
    /** After decoding. */
    readonly decodedBytesMax: number;
    /** Decoded bytes to raw bytes; judged from `RATIO_BYTES_MIN` decoded bytes on. */
    readonly ratioMax: number;
}

/** Small bodies may be anything of their size: 64 kB of spaces are 100 bytes, and no attack. */
export const RATIO_BYTES_MIN = 65_536;

/** One call. Middleware gets at it by `context.get(call)`, and declares it: `reads: [call]`. */
export interface Call {
    readonly options: CallOptions;
    /** Whether the caller takes the body as a stream. Then `response.body` is a `Readable`, otherwise a `Uint8Array`. */
    readonly asStream: boolean;
    readonly clock: Clock;
    readonly random: Random;
    readonly redactor: Redactor;
    /** Aborts with the caller's signal, the deadline, or `close`; its reason is a `TransportError`. Never the caller's own signal. */
    readonly signal: Signal;
    /** When the call began, by `clock.nowMs()`. */
    readonly startedMs: number;
    /** What is left of the call's time; `Infinity` without a deadline. */
    leftMs(): number;
    /** Ends the call `timeoutMs` after it began, if it would not end earlier: the deadline is moved nearer only. */
    endWithin(timeoutMs: number): void;
    /** How long one try may take, its body included; `Infinity` by default. A shorter one stands. */
    readonly tryTimeoutMs: number;
    tryWithin(timeoutMs: number): void;
    readonly limits: BodyLimits;
    /** Tightens limits: of each the smaller one stands. */
    limitTo(limits: Partial<BodyLimits>): void;
    /** The origin of the try that is under way, or was the last; undefined before the first. */
    readonly node: string | undefined;
    /** The tries that are over, in their order. */
    readonly attempts: readonly AttemptReport[];
    /** Called once when the call is over: the response was handed out, and of a stream its end reached or given up. */
    onEnd(run: () => void): void;
}

/** The slot in which every plan of a transport has its call. */
export const call = slot("call").of<Call>();
