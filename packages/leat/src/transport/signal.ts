// A signal of our own, for one call or one try: what is inside of it listens here, and never to the caller's signal.
import { type Signal } from "../middleware/context";

type Listener = () => void;

/** A signal and what aborts it. It costs one object; an `AbortController` costs a hundred times as much. */
export class Abort implements Signal {
    aborted = false;
    reason: unknown = undefined;
    #listeners: Listener[] | undefined = undefined;

    /** Aborts it, the first time. */
    abort(reason: unknown): void {
        if (this.aborted) return;
        this.aborted = true;
        this.reason = reason;
        const listeners = this.#listeners;
        this.#listeners = undefined;
        if (listeners !== undefined) for (const listener of listeners) told(listener);
    }

    /** A listener that comes too late is never called, as with an `AbortSignal`: ask `aborted` before. */
    addEventListener(_type: "abort", listener: Listener): void {
        if (this.aborted) return;
        const listeners = this.#listeners;
        if (listeners === undefined) this.#listeners = [listener];
        else if (!listeners.includes(listener)) listeners.push(listener);
    }

    removeEventListener(_type: "abort", listener: Listener): void {
        const listeners = this.#listeners;
        if (listeners === undefined) return;
        const at = listeners.indexOf(listener);
        if (at !== -1) listeners.splice(at, 1);
    }

    /** How many listen: 0 when all that was begun is over. */
    get listenerCount(): number {
        return this.#listeners?.length ?? 0;
    }
}

/** One that throws must not keep the others from hearing of it; it is told as an `EventTarget` tells it. */
function told(listener: Listener): void {
    try {
        listener();
    } catch (error) {
        queueMicrotask(() => {
            throw error;
        });
    }
}
