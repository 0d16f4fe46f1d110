// Middleware of Leat's as an interceptor of undici's: for programs that have a dispatcher already, and for `fetch` with one.
import { type Readable } from "node:stream";
import { type Dispatcher } from "undici";
import { type Middleware } from "../../middleware/middleware";
import { undici } from "../connection/undici";
import { TransportError, wrongRequest } from "../error";
import { type TransportOptions } from "../options";
import { Abort } from "../signal";
import { Transport } from "../transport";

/** What a transport takes, but for what the dispatcher does. */
export type InterceptorOptions = Omit<TransportOptions, "nodes" | "connection" | "middleware" | "provides" | "throwStatus">;

type Dispatch = Dispatcher["dispatch"];
type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Origins whose transports are kept; a program that asks more of them has new ones made, which costs time and no correctness. */
const ORIGINS_MAX = 256;

/**
 * `dispatcher.compose(interceptor([retry(), compression()]))`: each request goes through the middleware, and each try to the dispatcher.
 *
 * Bodies of responses stream; back pressure goes through. Errors are `TransportError`s, an abort's is its reason. undici's timers are
 * off, since calls have deadlines: a request that sets `headersTimeout` or `bodyTimeout` is refused. Upgrades and CONNECT go past the
 * middleware.
 *
 * @throws {TransportError} `options.invalid`; {MiddlewareError} whose code begins with `plan.`
 */
export function interceptor(middleware: readonly Middleware[], options: InterceptorOptions = {}): Dispatcher.DispatcherComposeInterceptor {
    // Here and not with the first request: what is wrong is wrong now.
    void new Transport({ ...options, nodes: "http://localhost", middleware }).close();
    return (dispatch: Dispatch): Dispatch => {
        const connection = undici({ dispatcher: { dispatch } as unknown as Dispatcher });
        const transports = new Map<string, Transport>();
        const transportOf = (origin: string): Transport => {
            const known = transports.get(origin);
            if (known !== undefined) return known;
            const made = new Transport({ ...options, nodes: origin, middleware, connection });
            const oldest = transports.keys().next();
            if (transports.size >= ORIGINS_MAX && oldest.done !== true) transports.delete(oldest.value);
            transports.set(origin, made);
            return made;
        };
        return (given, handler) => {
            if (given.method === "CONNECT" || (given.upgrade !== undefined && given.upgrade !== null && given.upgrade !== false)) return dispatch(given, handler);
            const controller = new Controller();
            handler.onRequestStart?.(controller, {});
            send(transportOf, given, controller).then(
                ({ status, headers, body }) => {
                    controller.take(body);
                    handler.onResponseStart?.(controller, status, headers as Record<string, string | string[]>, "");
                    body.on("data", (chunk: Buffer) => handler.onResponseData?.(controller, chunk));
                    body.on("end", () => handler.onResponseEnd?.(controller, {}));
                    body.on("error", (error) => handler.onResponseError?.(controller, reasonOf(error)));
                    if (controller.paused) body.pause();
                },
                (error: unknown) => handler.onResponseError?.(controller, reasonOf(error)),
            );
            return true;
        };
    };
}

async function send(transportOf: (origin: string) => Transport, given: Dispatcher.DispatchOptions, { signal }: Controller): Promise<{ readonly status: number; readonly headers: object; readonly body: Readable }> {
    const { origin, path, method, body, query } = given;
    for (const name of ["headersTimeout", "bodyTimeout"] as const) {
        const timeout = given[name];
        if (typeof timeout === "number" && timeout !== 0) throw wrongRequest(name, timeout, "nothing here; the deadline of a call is the transport's timeoutMs, or the middleware deadline");
    }
    if (origin === undefined) throw wrongRequest("origin", origin, 'an origin: "http://127.0.0.1:9200"');
    return transportOf(new URL(origin).origin).request<Readable>({
        method,
        path,
        querystring: query,
        headers: headersOf(given.headers),
        // A text gets no type of its own here, as undici gives it none.
        body: typeof body === "string" ? Buffer.from(body) : body,
        as: "stream",
        signal,
    });
}

/** undici takes objects, lists of names and values in turns, and iterables of pairs. */
function headersOf(given: Dispatcher.DispatchOptions["headers"]): Headers {
    const headers: Record<string, string | readonly string[]> = {};
    const add = (name: string, value: unknown): void => {
        if (value === undefined || value === null) return;
        const lower = name.toLowerCase();
        const values = (Array.isArray(value) ? value : [value]).map(textOf);
        // undici's own business, and its default.
        if (lower === "connection" && values[0]?.toLowerCase() === "keep-alive") return;
        const before = headers[lower];
        const all = before === undefined ? values : [...[before].flat(), ...values];
        headers[lower] = all.length === 1 ? (all[0] as string) : all;
    };
    if (given === undefined || given === null) return headers;
    if (Array.isArray(given)) {
        const flat: readonly unknown[] = given;
        if (flat.every((each) => Array.isArray(each) && each.length === 2)) for (const [name, value] of flat as [unknown, unknown][]) add(textOf(name), value);
        else for (let at = 0; at + 1 < flat.length; at += 2) add(textOf(flat[at]), flat[at + 1]);
    } else if (Symbol.iterator in given) {
        for (const [name, value] of given as Iterable<[string, unknown]>) add(name, value);
    } else {
        for (const [name, value] of Object.entries(given)) add(name, value);
    }
    return headers;
}

function textOf(value: unknown): string {
    if (Buffer.isBuffer(value)) return value.toString("latin1");
    return typeof value === "string" ? value : `${value as number}`;
}

/** An abort is told by its reason, as undici does. */
function reasonOf(error: unknown): Error {
    const told = error instanceof TransportError && error.code === "call.aborted" ? error.cause : error;
    return told instanceof Error ? told : new Error("the request was aborted", { cause: told });
}

/** What a handler steers its request by. */
class Controller implements Dispatcher.DispatchController {
    readonly signal = new Abort();
    readonly rawHeaders = null;
    readonly rawTrailers = null;
    #body: Readable | undefined = undefined;
    #isPaused = false;

    get aborted(): boolean {
        return this.signal.aborted;
    }

    get reason(): Error | null {
        return this.signal.aborted ? (this.signal.reason as Error) : null;
    }

    get paused(): boolean {
        return this.#isPaused;
    }

    take(body: Readable): void {
        this.#body = body;
    }

    abort(reason: Error): void {
        this.signal.abort(reason);
    }

    pause(): void {
        this.#isPaused = true;
        this.#body?.pause();
    }

    resume(): void {
        this.#isPaused = false;
        this.#body?.resume();
    }
}
