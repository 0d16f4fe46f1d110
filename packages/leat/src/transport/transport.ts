// The transport: one plan of middleware, with nodes and a connection inside.
import { Readable } from "node:stream";
import { isThenable } from "../middleware/apply";
import { type Awaitable, type Headers, type HeaderValue, type Response } from "../middleware/message";
import { compile, type Plan } from "../middleware/plan";
import { type Sender } from "../middleware/layer";
import { type Measured } from "../middleware/meter";
import { type Slot, type SlotPatch } from "../middleware/slot";
import { decode } from "./body/decode";
import { call, type BodyLimits } from "./call";
import { type Clock, type Random } from "./clock";
import { type Connection, type ConnectionResponse } from "./connection/connection";
import { undici } from "./connection/undici";
import { type AttemptReport, TransportError, wrongOption } from "./error";
import { failureOf } from "./failure";
import { type Host, LiveCall } from "./live";
import { type NodeStats } from "./nodes/node";
import { Nodes } from "./nodes/pool";
import { type NodeGiven, nodeOf } from "./nodes/spec";
import { type Settings, settingsOf, type TransportOptions } from "./options";
import { checkAddressees, formOf, nameOf, type RequestOptions, requestOf, timeOf, valueOf } from "./request";
import { Redactor } from "./secret";
import { senderOf } from "./sender";

const NO_TRAILERS: Headers = Object.freeze({});

/** What a call comes to. */
export interface TransportResponse<T = unknown> {
    readonly status: number;
    /** Names in lower case; an array for one that came several times. */
    readonly headers: Headers;
    /** What came after the body, mostly nothing; of a stream it is there once that has ended. No middleware looks at it. */
    readonly trailers: Headers;
    /** As `as` asked for: `T` is the caller's word for what JSON will be. */
    readonly body: T;
    /** All tries, the last of which came to this. */
    readonly attempts: readonly AttemptReport[];
}

/**
 * A client for one service: its nodes, its connections, and what its middleware do with each call.
 *
 * Make one and keep it: it holds connections, and what is known of the nodes. `close` lets go of them.
 */
export class Transport<S extends Slot = never> {
    readonly #settings: Settings;
    readonly #host: Host;
    /** The calls that are under way, the last one first. */
    #live: LiveCall | undefined = undefined;
    readonly #connection: Connection;
    readonly #nodes: Nodes;
    readonly #plan: Plan<typeof call | S>;
    readonly #names: ReadonlySet<string>;
    readonly #send: Sender;
    readonly #headers: Headers | undefined;
    #isClosed = false;
    #onIdle: (() => void) | undefined = undefined;

    /** @throws {TransportError} `options.invalid`; {MiddlewareError} whose code begins with `plan.` */
    constructor(options: TransportOptions<S>) {
        const settings = settingsOf(options);
        const { clock, random, limits } = settings;
        const redactor = new Redactor();
        this.#settings = settings;
        this.#host = new Shared(clock, random, limits, redactor, (ended) => this.#ended(ended));
        this.#headers = baseOf(settings.headers, redactor);
        this.#plan = compile(settings.middleware, { provides: [call, ...(settings.provides as readonly S[])], development: settings.development, ...(settings.measure !== undefined && { measure: settings.measure }) });
        this.#names = new Set(this.#plan.names);
        this.#nodes = new Nodes(settings.nodes, settings.balance, clock, random);
        this.#connection = settings.connection ?? undici();
        // The slot is provided to every run of this plan, which the type of a sender does not know.
        this.#send = senderOf(this.#connection, this.#nodes, settings.balance.hedge);
    }

    /**
     * Sends a request and reads its response. Statuses are results, unless `throwStatus` says otherwise.
     *
     * @throws {TransportError} all that fails: see `TransportErrorCode`
     */
    async request<T = unknown>(options: RequestOptions<S>): Promise<TransportResponse<T>> {
        const { redactor } = this.#host;
        if (this.#isClosed) throw new TransportError("transport.closed", "the transport is closed");
        const request = requestOf(options, this.#headers, redactor);
        checkAddressees(options, this.#names);
        const form = formOf(options.as);
        const { timeoutMs, tryTimeoutMs, throws, bigint } = this.#settings;
        const live = new LiveCall(this.#host, options, form === "stream", timeOf("timeoutMs", options.timeoutMs, timeoutMs), timeOf("tryTimeoutMs", options.tryTimeoutMs, tryTimeoutMs), options.signal);
        this.#begun(live);
        let isHandedOut = false;
        let response: Response | undefined;
        try {
            const ran = this.#run(request, live, options.set);
            response = isThenable(ran) ? await ran : ran;
            const { status, headers } = response;
            if (throws(status)) throw new TransportError("response.status", `${request.method} ${pathOf(request.path)} came to ${status}`, { response });
            const body = decode(response, form, bigint);
            if (body instanceof Readable) isHandedOut = handOut(body, live);
            return { status, headers, trailers: (response as ConnectionResponse).trailers ?? NO_TRAILERS, body: body as T, attempts: live.attempts };
        } catch (error) {
            if (response?.body instanceof Readable) response.body.on("error", () => undefined).destroy();
            throw failureOf(error, live.attempts, redactor);
        } finally {
            if (!isHandedOut) live.end();
        }
    }

    /** Puts other nodes in place of these. One that stays keeps what is known of it, and calls under way go on. */
    setNodes(nodes: readonly NodeGiven[]): void {
        if (!Array.isArray(nodes) || nodes.length === 0) throw wrongOption("nodes", nodes, 'at least one origin: ["http://127.0.0.1:9200"]');
        this.#nodes.set(nodes.map((node: unknown, at) => nodeOf(`nodes[${at}]`, node)));
    }

    /** What is known of each node now. */
    nodes(): readonly NodeStats[] {
        return this.#nodes.stats();
    }

    /** The plan of its middleware as a table. */
    explain(): string {
        return this.#plan.explain();
    }

    /** What each hook of its middleware took until now; nothing without the option `measure`. */
    measured(): readonly Measured[] {
        return this.#plan.measured();
    }

    /**
     * Takes no more calls, waits up to `graceMs` for those under way (streams that were handed out too), then ends them with
     * `transport.closed` and closes the connections. Default: no grace.
     */
    async close({ graceMs = 0 }: { readonly graceMs?: number } = {}): Promise<void> {
        if (!(graceMs >= 0)) throw wrongOption("graceMs", graceMs, "milliseconds from 0 on");
        this.#isClosed = true;
        if (graceMs > 0 && this.#live !== undefined) {
            await new Promise<void>((resolve) => {
                const timer = this.#host.clock.after(graceMs, resolve);
                this.#onIdle = () => {
                    timer.cancel();
                    resolve();
                };
            });
        }
        const left: LiveCall[] = [];
        for (let live: LiveCall | undefined = this.#live; live !== undefined; live = live.next) left.push(live);
        for (const live of left) live.abort(new TransportError("transport.closed", "the transport was closed while the call was under way"));
        await this.#connection.close();
    }

    /** The plan, or the end of the call, whichever comes first: no middleware can hold a call beyond its end. */
    #run(request: Parameters<Sender>[0], live: LiveCall, set: SlotPatch<S> | undefined): Awaitable<Response> {
        if (live.aborted) throw live.reason as TransportError;
        const slots = (set === undefined ? { call: live } : { ...set, call: live }) as unknown as SlotPatch<typeof call | S>;
        const ran = this.#plan.run(request, this.#send, { signal: live, set: slots });
        // What did not wait cannot be held by anybody; its call may have ended meanwhile all the same.
        if (isThenable(ran)) return untilEnd(ran, live);
        if (live.signal.aborted) throw live.reason as TransportError;
        return ran;
    }

    #begun(live: LiveCall): void {
        const first = this.#live;
        live.next = first;
        if (first !== undefined) first.previous = live;
        this.#live = live;
    }

    #ended(live: LiveCall): void {
        const { previous, next } = live;
        if (previous === undefined) this.#live = next;
        else previous.next = next;
        if (next !== undefined) next.previous = previous;
        live.previous = live.next = undefined;
        if (this.#live === undefined) this.#onIdle?.();
    }
}

class Shared implements Host {
    readonly clock: Clock;
    readonly random: Random;
    readonly limits: BodyLimits;
    readonly redactor: Redactor;
    readonly ended: (live: LiveCall) => void;

    constructor(clock: Clock, random: Random, limits: BodyLimits, redactor: Redactor, ended: (live: LiveCall) => void) {
        this.clock = clock;
        this.random = random;
        this.limits = limits;
        this.redactor = redactor;
        this.ended = ended;
    }
}

/** What comes of `pending`, or the end of the call, whichever comes first. */
function untilEnd(pending: PromiseLike<Response>, live: LiveCall): Promise<Response> {
    return new Promise((resolve, reject) => {
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the call's own reason, a TransportError by its maker
        const aborted = (): void => reject(live.reason);
        if (live.aborted) aborted();
        else live.addEventListener("abort", aborted);
        pending.then(resolve, reject);
    });
}

/**
 * From here on the stream is the caller's, and the call lasts as long as it: its deadline and its signal end the stream with their
 * error. Nobody has to listen for that: a caller that reads gets it, and one that does not read loses nothing. False if it is closed.
 */
function handOut(body: Readable, live: LiveCall): boolean {
    const aborted = (): void => void body.destroy(live.reason as Error);
    body.on("error", () => undefined);
    // It failed, or was read by a middleware, before it came here.
    if (body.closed) return false;
    body.once("close", () => {
        live.removeEventListener("abort", aborted);
        live.end();
    });
    if (live.aborted) aborted();
    else live.addEventListener("abort", aborted);
    return true;
}

function baseOf(given: Settings["headers"], redactor: Redactor): Headers | undefined {
    if (given === undefined) return undefined;
    const headers: Record<string, HeaderValue> = {};
    try {
        for (const [name, value] of Object.entries(given)) headers[nameOf(`headers["${name}"]`, name)] = valueOf(`headers["${name}"]`, value, redactor);
    } catch (error) {
        throw new TransportError("options.invalid", (error as Error).message);
    }
    return Object.freeze(headers);
}

/** Without its query, in which anything may stand. */
function pathOf(path: string): string {
    const end = path.indexOf("?");
    return end === -1 ? path : path.slice(0, end);
}
