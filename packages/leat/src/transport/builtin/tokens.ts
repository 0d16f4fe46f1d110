// The token of a source: one at a time for all calls, and one renewal for all that wait.
import { type Signal } from "../../middleware/context";
import { type Call } from "../call";
import { type Clock } from "../clock";
import { TransportError } from "../error";
import { type Secret } from "../secret";
import { credentialOf, type Sourced, type Token } from "./auth_options";

interface Held {
    readonly value: string;
    readonly gotMs: number;
    /** By when it is to be renewed. */
    readonly untilMs: number;
    /** Whether a peer has taken it, so that a refusal means that it ran out. */
    isAccepted: boolean;
}

/** A token is renewed when so much of its time is left, as a call that begins now has to arrive with it. */
const LEFT_PART = 0.1;
const LEFT_MS_MAX = 10_000;

/** Gets and keeps tokens. */
export class Tokens {
    private readonly settings: Sourced;
    private held: Held | undefined = undefined;
    private pending: Promise<Held> | undefined = undefined;

    constructor(settings: Sourced) {
        this.settings = settings;
    }

    /** The token, if there is one that has not run out. */
    present(nowMs: number): string | undefined {
        return this.held !== undefined && nowMs < this.held.untilMs ? this.held.value : undefined;
    }

    /** A peer took it. */
    accepted(token: string): void {
        if (this.held?.value === token) this.held.isAccepted = true;
    }

    /** Whether another token may be the answer to a refusal of this one. */
    isWorthRenewing(refused: string, nowMs: number): boolean {
        const { held } = this;
        // Somebody has renewed it since, or it was good before; a new one that is refused again and again must not make a loop.
        return held === undefined || held.value !== refused || held.isAccepted || nowMs - held.gotMs >= this.settings.renewPauseMs;
    }

    /**
     * A token that is not the refused one. Who waits leaves with its own signal, and the others go on.
     * @throws {TransportError} `auth.failed`
     */
    async renewed(own: Call, refused: string | undefined): Promise<string> {
        const { held } = this;
        if (held !== undefined && held.value !== refused && own.clock.nowMs() < held.untilMs) return held.value;
        this.pending ??= this.get(own.clock, refused).finally(() => {
            this.pending = undefined;
        });
        return (await unless(own.signal, this.pending)).value;
    }

    private async get(clock: Clock, refused: string | undefined): Promise<Held> {
        const controller = new AbortController();
        const { source, timeoutMs } = this.settings;
        const late = new TransportError("auth.failed", `no credentials came within ${timeoutMs} ms (auth.tokenTimeoutMs)`);
        const timer = timeoutMs === Infinity ? undefined : clock.after(timeoutMs, () => controller.abort(late));
        try {
            const got = await unless(controller.signal, Promise.resolve().then(() => source({ signal: controller.signal, refused })));
            this.held = heldOf(got, clock.nowMs());
            return this.held;
        } catch (cause) {
            throw cause instanceof TransportError ? cause : new TransportError("auth.failed", "no credentials came about: the function that gets them failed", { cause });
        } finally {
            timer?.cancel();
        }
    }
}

function heldOf(got: Token | Secret | string, nowMs: number): Held {
    const given: unknown = typeof got === "object" && "token" in got ? got.token : got;
    const value = credentialOf(given);
    if (value === undefined) throw new TransportError("auth.failed", "the function that gets credentials came to something else than a text, secret(\"…\") or { token, expiresInMs } of characters that a header takes");
    const expiresInMs = typeof got === "object" && "token" in got ? (got.expiresInMs ?? Infinity) : Infinity;
    if (typeof expiresInMs !== "number" || !(expiresInMs > 0)) throw new TransportError("auth.failed", "the function that gets credentials came to an expiresInMs that is no number of milliseconds above 0");
    const left = expiresInMs === Infinity ? 0 : Math.min(expiresInMs * LEFT_PART, LEFT_MS_MAX);
    return { value, gotMs: nowMs, untilMs: nowMs + expiresInMs - left, isAccepted: false };
}

/** What a promise comes to, unless the signal aborts before; it goes on for others. */
function unless<T>(signal: Signal, promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
        const aborted = (): void => {
            signal.removeEventListener("abort", aborted);
            // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as AbortSignal.throwIfAborted does
            reject(signal.reason);
        };
        signal.addEventListener("abort", aborted);
        if (signal.aborted) aborted();
        promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
    });
}
