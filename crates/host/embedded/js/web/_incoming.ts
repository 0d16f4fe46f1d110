// The body of a response as it comes in: read whole without a stream, or as one.
import { abort, read } from "./exchange";

export class Incoming {
    /** The exchange; its body is asked for piece by piece. */
    #id: number;
    #pieces: Uint8Array[] | undefined;
    #whole: { resolve(bytes: Uint8Array): void; reject(error: unknown): void } | undefined;
    #controller: ReadableByteStreamController | undefined;
    #pulled: (() => void) | undefined;
    #isOver = false;
    /** Somebody reads it, or has its stream. */
    #isAsked = false;
    #error: unknown;
    /** Called when nothing can be aborted any more. */
    onOver: (() => void) | undefined;

    constructor(id: number) {
        this.#id = id;
    }

    /** A piece came; whether the next one is wanted. */
    data(bytes: Uint8Array): boolean {
        if (this.#pieces !== undefined) {
            this.#pieces.push(bytes);
            return true;
        }
        this.#controller?.enqueue(bytes);
        this.#pulled?.();
        this.#pulled = undefined;
        return false;
    }
    end(): void {
        this.#over();
        const whole = this.#whole;
        if (whole === undefined) this.#controller?.close();
        else {
            const pieces = this.#pieces ?? [];
            this.#pieces = undefined;
            // There may be no room for them in one piece: whoever waits has to hear of it.
            try {
                whole.resolve(joined(pieces));
            } catch (error) {
                whole.reject(error);
            }
        }
        this.#pulled?.();
    }
    fail(error: unknown): void {
        this.#over();
        this.#error = error;
        this.#pieces = undefined;
        if (this.#whole !== undefined) this.#whole.reject(error);
        else this.#controller?.error(error);
        this.#pulled?.();
    }
    /** Gives the body up. */
    cancel(): void {
        if (!this.#isOver) abort(this.#id);
        this.#over();
    }
    /** The response is gone, and nobody had asked for its body. */
    abandon(): void {
        if (!this.#isAsked) this.cancel();
    }
    #over(): void {
        this.#isOver = true;
        this.onOver?.();
        this.onOver = undefined;
    }

    /** All bytes. */
    whole(): Promise<Uint8Array> {
        this.#isAsked = true;
        if (this.#isOver) return this.#error === undefined ? Promise.resolve(new Uint8Array(0)) : Promise.reject(this.#error);
        this.#pieces = [];
        read(this.#id);
        return new Promise((resolve, reject) => {
            this.#whole = { resolve, reject };
        });
    }
    stream(): ReadableStream<Uint8Array> {
        this.#isAsked = true;
        const { ReadableStream: Stream } = require("leat:web/streams") as { ReadableStream: typeof ReadableStream };
        const source = {
            type: "bytes" as const,
            start: (controller: ReadableByteStreamController) => {
                this.#controller = controller;
                if (!this.#isOver) return;
                if (this.#error === undefined) controller.close();
                else controller.error(this.#error);
            },
            pull: () => {
                if (this.#isOver) return undefined;
                const done = new Promise<void>((resolve) => {
                    this.#pulled = resolve;
                });
                read(this.#id);
                return done;
            },
            cancel: () => this.cancel(),
        };
        return new Stream(source) as ReadableStream<Uint8Array>;
    }
}

export function joined(pieces: Uint8Array[]): Uint8Array {
    if (pieces.length === 1) return pieces[0] as Uint8Array;
    const made = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
        made.set(piece, at);
        at += piece.length;
    }
    return made;
}
