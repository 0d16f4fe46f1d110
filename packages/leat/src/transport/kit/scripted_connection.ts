// A connection without a network: it answers and fails by a script, on a virtual clock.
import { Readable } from "node:stream";
import { type Signal } from "../../middleware/context";
import { type Awaitable, type Headers } from "../../middleware/message";
import { type Clock } from "../clock";
import { type Connection, type ConnectionRequest, type ConnectionResponse } from "../connection/connection";
import { TransportError } from "../error";

/** An answer. */
export interface ScriptedReply {
    /** Default: 200. */
    readonly status?: number;
    /** Names in lower case. Default: none. */
    readonly headers?: Headers;
    /** A text is UTF-8. An array's pieces come one after the other. Default: empty. */
    readonly body?: string | Uint8Array | readonly (string | Uint8Array)[];
    /** Before the head. Without it, and without `everyMs`, the answer is there when `send` returns. */
    readonly afterMs?: number;
    /** Before each piece of the body: a body that drips. */
    readonly everyMs?: number;
    /** The connection breaks after so many pieces of the body. */
    readonly breaksAfter?: number;
}

/** A failure in the place of an answer. */
export interface ScriptedFailure {
    /** Nothing was sent; the peer did nothing; broken after it was sent; no answer in time; no HTTP. */
    readonly fails: "connection.failed" | "connection.not_processed" | "connection.broken" | "connection.timeout" | "connection.protocol";
    readonly afterMs?: number;
}

/** What a try comes to. `silent`: no answer ever; only the request's signal ends it. */
export type ScriptedStep = ScriptedReply | ScriptedFailure | "silent";

/** A try as the script and the test see it. */
export interface ScriptedExchange {
    /** From 0, over all tries on this connection. */
    readonly number: number;
    readonly origin: string;
    readonly method: string;
    readonly path: string;
    readonly headers: Headers;
    /** All of the body that was read; undefined for none. */
    readonly body: Uint8Array | undefined;
    /** When it was sent, by the clock. */
    readonly atMs: number;
}

/** How a scripted connection is made. */
export interface ScriptedConnectionOptions {
    readonly clock: Clock;
    /** What each try comes to: a list, one after the other, or a function of the try. A list that is over is a mistake of the test. */
    readonly script: readonly ScriptedStep[] | ((exchange: ScriptedExchange) => ScriptedStep);
}

/** The most tries of one connection, since it remembers them all. */
const EXCHANGES_MAX = 100_000;
const NO_HEADERS: Headers = Object.freeze({});

/** Made for tests: it sends nothing, and remembers what it was asked to send. */
export class ScriptedConnection implements Connection {
    readonly name = "scripted";
    /** Tries in the order of their sending. */
    readonly exchanges: ScriptedExchange[] = [];
    readonly #clock: Clock;
    readonly #next: (exchange: ScriptedExchange) => ScriptedStep;
    readonly #open = new Set<(error: TransportError) => void>();

    constructor(options: ScriptedConnectionOptions) {
        const { script } = options;
        this.#clock = options.clock;
        this.#next = typeof script === "function" ? script : ({ number }) => stepOf(script, number);
    }

    /** Tries that are under way. */
    get open(): number {
        return this.#open.size;
    }

    send(request: ConnectionRequest): Awaitable<ConnectionResponse> {
        const { body } = request;
        if (body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array)) return this.#collected(request, body);
        return this.#answer(request, typeof body === "string" ? Buffer.from(body) : body);
    }

    close(): Promise<void> {
        for (const fail of [...this.#open]) fail(new TransportError("connection.broken", "the scripted connection was closed"));
        return Promise.resolve();
    }

    async #collected(request: ConnectionRequest, body: AsyncIterable<Uint8Array>): Promise<ConnectionResponse> {
        const pieces: Uint8Array[] = [];
        for await (const piece of body) pieces.push(piece);
        return this.#answer(request, Buffer.concat(pieces));
    }

    #answer(request: ConnectionRequest, body: Uint8Array | undefined): Awaitable<ConnectionResponse> {
        const { origin, method, path, headers, signal } = request;
        const number = this.exchanges.length;
        if (number >= EXCHANGES_MAX) throw new Error(`${EXCHANGES_MAX} tries on one scripted connection, at most`);
        if (signal.aborted) throw signal.reason;
        const exchange: ScriptedExchange = { number, origin, method, path, headers, body, atMs: this.#clock.nowMs() };
        this.exchanges.push(exchange);
        const step = this.#next(exchange);
        if (step === "silent") return this.#wait(undefined, signal, unreachable);
        if ("fails" in step) {
            const failed = (): never => {
                throw new TransportError(step.fails, `the script failed ${method} ${path.split("?")[0] ?? ""}: ${step.fails}`);
            };
            return step.afterMs === undefined ? failed() : this.#wait(step.afterMs, signal, failed);
        }
        const head = (): Awaitable<ConnectionResponse> => this.#body(step, request);
        return step.afterMs === undefined ? head() : this.#wait(step.afterMs, signal, head);
    }

    #body(step: ScriptedReply, request: ConnectionRequest): Awaitable<ConnectionResponse> {
        const { status = 200, headers = NO_HEADERS } = step;
        const pieces = piecesOf(step.body);
        if (request.asStream) return { status, headers, body: Readable.from(this.#drip(step, pieces, request), { objectMode: false }) };
        const { everyMs, breaksAfter } = step;
        if (everyMs !== undefined) return this.#whole(step, pieces, request);
        if (breaksAfter !== undefined && breaksAfter <= pieces.length) throw broken(request);
        const body = pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
        within(request, body.byteLength);
        return { status, headers, body };
    }

    async #whole(step: ScriptedReply, pieces: readonly Uint8Array[], request: ConnectionRequest): Promise<ConnectionResponse> {
        const { status = 200, headers = NO_HEADERS } = step;
        const read: Uint8Array[] = [];
        for await (const piece of this.#drip(step, pieces, request)) read.push(piece);
        return { status, headers, body: Buffer.concat(read) };
    }

    async *#drip(step: ScriptedReply, pieces: readonly Uint8Array[], request: ConnectionRequest): AsyncGenerator<Uint8Array> {
        let bytes = 0;
        for (const [at, piece] of pieces.entries()) {
            if (at === step.breaksAfter) throw broken(request);
            await this.#wait(step.everyMs ?? 0, request.signal, () => undefined);
            bytes += piece.byteLength;
            within(request, bytes);
            yield piece;
        }
        if (step.breaksAfter === pieces.length) throw broken(request);
    }

    /** Waits, for ever without `waitMs`, and goes on with `then`; the signal ends it at once. */
    #wait<T>(waitMs: number | undefined, signal: Signal, then: () => Awaitable<T>): Promise<T> {
        return new Promise<T>((resolve, reject) => {
            const over = (): void => {
                timer?.cancel();
                signal.removeEventListener("abort", aborted);
                this.#open.delete(fail);
            };
            const fail = (error: unknown): void => {
                over();
                // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the signal's own reason, whatever it is
                reject(error);
            };
            const aborted = (): void => fail(signal.reason);
            const timer =
                waitMs === undefined
                    ? undefined
                    : this.#clock.after(waitMs, () => {
                          over();
                          try {
                              resolve(then());
                          } catch (error) {
                              fail(error);
                          }
                      });
            this.#open.add(fail);
            if (signal.aborted) aborted();
            else signal.addEventListener("abort", aborted);
        });
    }
}

function stepOf(script: readonly ScriptedStep[], number: number): ScriptedStep {
    const step = script[number];
    if (step === undefined) throw new Error(`the script has ${script.length} steps, and this is try ${number + 1}`);
    return step;
}

function piecesOf(body: ScriptedReply["body"]): readonly Uint8Array[] {
    if (body === undefined) return [Buffer.alloc(0)];
    const pieces = typeof body === "string" || body instanceof Uint8Array ? [body] : body;
    return pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece));
}

function broken({ method, path }: ConnectionRequest): TransportError {
    return new TransportError("connection.broken", `the script broke ${method} ${path.split("?")[0] ?? ""} in its body`);
}

function within({ rawBytesMax }: ConnectionRequest, bytes: number): void {
    if (bytes > rawBytesMax) throw new TransportError("response.limit", `the body is over rawBytesMax: ${bytes} of at most ${rawBytesMax} bytes`, { limit: "rawBytesMax" });
}

function unreachable(): never {
    throw new Error("a silent try never goes on");
}
