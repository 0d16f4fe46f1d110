// The signal of one try: the call's, and its own time.
import { type Timer } from "./clock";
import { TransportError } from "./error";
import { type LiveCall } from "./live";
import { Abort } from "./signal";

/** Ends with the call, at the time that a try may take, and by whoever made it. `end` lets go of both. */
export class Try extends Abort {
    readonly #live: LiveCall;
    readonly #timer: Timer | undefined;

    constructor(live: LiveCall) {
        super();
        this.#live = live;
        const timeoutMs = live.tryTimeoutMs;
        if (timeoutMs !== Infinity) this.#timer = live.clock.after(timeoutMs, () => this.abort(new TransportError("connection.timeout", `the try took longer than its ${Math.round(timeoutMs)} ms`)));
        if (live.aborted) this.abort(live.reason);
        else live.addEventListener("abort", this.#aborted);
    }

    end(): void {
        this.#timer?.cancel();
        this.#live.removeEventListener("abort", this.#aborted);
    }

    readonly #aborted = (): void => this.abort(this.#live.reason);
}
