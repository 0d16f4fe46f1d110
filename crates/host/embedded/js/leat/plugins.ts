// Plug-ins: their middleware as plans, and a request's way through one. Heads are the host's: what plug-ins see of them are
// prepared objects with getters over a copy, used again for other requests unless somebody kept them. What plug-ins change is told
// to the host as edits.
import { type Called, checkName, compile, goOn, isSame, LATER, leave, patched, type HeaderPatch, type Headers, type HeaderValue, type Plan, type Record, type Request, type Response } from "./plan";
import { upstream } from "./gateway";
import { reading, UNREAD } from "./plugin_body";
import { type Given, middlewareOf } from "./plugin_file";
import { textOf } from "./plugin_error";
import { finish, furnished, layersOf, type Records, type Straight, straight, type StraightLayer, walked } from "./plugin_straight";

/** A head of the host's, behind getters. */
interface View {
    readonly headers: Headers;
}

/** The host's side. `run` is the number of a run. */
interface Native {
    /** The prototypes of heads, to which `patched` is put. */
    readonly requests: View;
    readonly responses: View;
    /** The prototype of records of runs that the host goes through itself. */
    readonly records: object;
    record(run: number): Straight;
    /** A head without bytes yet, for a run. */
    view(run: number, isRequest: boolean): View;
    line(run: number, name: "method" | "path", value: string): void;
    status(run: number, status: number): void;
    upstream(run: number, name: string): void;
    /** Sets a field in place of all of its name, or takes them away. */
    edit(run: number, name: string, value: HeaderValue | null): void;
    body(run: number, body: string | Uint8Array | null): void;
    /** The body of a head's message, where it is there. */
    bodyOf(view: View): Uint8Array | undefined;
    /** Asks for a body; false where there is nothing to wait for. */
    wantBody(run: number, isRequest: boolean): boolean;
    /** Somebody has asked for the signal of a run. */
    signalled(run: number): void;
    failed(run: number, message: string): void;
    /** What a run that waited has come to. */
    decided(run: number, step: number): void;
}

const own = native("plugins") as Native;

/** What a step of a run came to: 0 is nothing changed, and the run is over. */
const CHANGED = 1;
/** The response is wanted. */
const OPEN = 2;
/** There is a whole response. */
const RESPONDED = 4;
const PENDING = 8;
const FAILED = 16;

type Edits = { [name: string]: HeaderValue | null };

/** By which a head of the host's knows its run. */
const RUN = Symbol("run");

/** A message of the host's with changes; patched again, it is another one. */
abstract class Changed<V extends View> {
    readonly base: V;
    readonly edits: Edits;
    /** The body that takes the place of the message's; `null` is none. */
    readonly put: unknown;
    private merged: Headers | undefined;

    constructor(base: V, edits: Edits, put: unknown) {
        this.base = base;
        this.edits = edits;
        this.put = put;
    }

    get [RUN](): Run | undefined {
        return (this.base as { readonly [RUN]?: Run })[RUN];
    }

    get body(): unknown {
        return this.put === undefined ? (this.base as { readonly body?: unknown }).body : (this.put ?? undefined);
    }

    get headers(): Headers {
        return (this.merged ??= new Proxy(this.edits, new Merged(this.base.headers)) as Headers);
    }
}

class ChangedRequest extends Changed<View & Request> {
    readonly method: string;
    readonly path: string;

    constructor(base: View & Request, method: string, path: string, edits: Edits, body: unknown) {
        super(base, edits, body);
        this.method = method;
        this.path = path;
    }
}

class ChangedResponse extends Changed<View & Response> {
    readonly status: number;

    constructor(base: View & Response, status: number, edits: Edits, body: unknown) {
        super(base, edits, body);
        this.status = status;
    }
}

/** The headers of a head, and above them edits: nothing is copied. */
class Merged implements ProxyHandler<Edits> {
    private readonly base: Headers;

    constructor(base: Headers) {
        this.base = base;
    }

    get(edits: Edits, name: string | symbol): HeaderValue | undefined {
        if (typeof name !== "string") return undefined;
        return Object.hasOwn(edits, name) ? (edits[name] ?? undefined) : this.base[name];
    }

    has(edits: Edits, name: string | symbol): boolean {
        return this.get(edits, name) !== undefined;
    }

    ownKeys(edits: Edits): string[] {
        const kept = Object.keys(this.base).filter((name) => edits[name] !== null);
        return [...kept, ...Object.keys(edits).filter((name) => edits[name] !== null && !Object.hasOwn(this.base, name))];
    }

    getOwnPropertyDescriptor(edits: Edits, name: string | symbol): PropertyDescriptor | undefined {
        const value = this.get(edits, name);
        return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
    }

    set(): boolean {
        return false;
    }

    defineProperty(): boolean {
        return false;
    }

    deleteProperty(): boolean {
        return false;
    }
}

const NONE: Edits = Object.freeze({});
const { hasOwn } = Object;

/** Names that were looked at, so that the same ones need not be with each request; plug-ins' own, and no more than these. */
const CHECKED_MAX = 1_000;
const checked = new Set<string>();

function checkOnce(name: string): void {
    if (checked.has(name)) return;
    checkName(name);
    if (checked.size < CHECKED_MAX) checked.add(name);
}

/** `edits` over `base` with `change` merged in; the same object if nothing changes. */
function merge(base: Headers, edits: Edits, change: HeaderPatch): Edits {
    let merged = edits;
    for (const name in change) {
        if (!hasOwn(change, name)) continue;
        const value = (change as Edits)[name];
        if (value === undefined) continue;
        checkOnce(name);
        const before = merged !== NONE && hasOwn(merged, name) ? (merged[name] ?? undefined) : base[name];
        if (value === null ? before === undefined : before === value || isSame(before, value)) continue;
        if (merged === edits) merged = edits === NONE ? {} : { ...edits };
        merged[name] = value;
    }
    return merged;
}

interface Change {
    readonly method?: string;
    readonly path?: string;
    readonly status?: number;
    readonly headers?: HeaderPatch;
    readonly body?: unknown;
}

function bodyOf(before: unknown, change: unknown): unknown {
    return change === undefined ? before : change;
}

function patchRequest(this: Request, change: Change): Request {
    const before = this instanceof ChangedRequest ? this : undefined;
    const base = before?.base ?? (this as View & Request);
    const edits = before?.edits ?? NONE;
    const merged = change.headers === undefined ? edits : merge(base.headers, edits, change.headers);
    const body = bodyOf(before?.put, change.body);
    const { method, path } = change;
    if (merged === edits && body === before?.put && (method === undefined || method === this.method) && (path === undefined || path === this.path)) return this;
    return new ChangedRequest(base, method ?? this.method, path ?? this.path, merged, body);
}

function patchResponse(this: Response, change: Change): Response {
    const before = this instanceof ChangedResponse ? this : undefined;
    const base = before?.base ?? (this as View & Response);
    const edits = before?.edits ?? NONE;
    const merged = change.headers === undefined ? edits : merge(base.headers, edits, change.headers);
    const body = bodyOf(before?.put, change.body);
    const status = change.status ?? this.status;
    if (merged === edits && body === before?.put && status === this.status) return this;
    return new ChangedResponse(base, status, merged, body);
}

for (const prototype of [own.requests, ChangedRequest.prototype]) Object.defineProperty(prototype, patched, { value: patchRequest });
for (const prototype of [own.responses, ChangedResponse.prototype]) Object.defineProperty(prototype, patched, { value: patchResponse });
for (const prototype of [own.requests, own.responses]) {
    Object.defineProperty(prototype, "body", {
        get(this: View): unknown {
            return own.bodyOf(this) ?? UNREAD;
        },
        enumerable: true,
        configurable: true,
    });
}

/** A promise of a message's body, where a plug-in has to wait for it. */
function whole(message: Request | Response): Promise<void> | undefined {
    // What another plug-in has made is there.
    if (message.body !== UNREAD) return undefined;
    const run = (message as { readonly [RUN]?: Run })[RUN];
    return run?.whole((message instanceof ChangedRequest ? message.base : message) === run.request);
}

/** A plan, whether a layer of it has anything to do with the response, and whether one may hold it up while it is under way. */
interface Compiled {
    readonly plan: Plan;
    readonly isOutward: boolean;
    readonly isAround: boolean;
    /** Whether one may name the upstream. */
    readonly picks: boolean;
    /** Where the host calls the hooks itself. */
    readonly records: Records | undefined;
}

let sets: readonly Compiled[] = [];

const NOTHING: Compiled = { plan: compile([]), isOutward: false, isAround: false, picks: false, records: undefined };

/** One request's way through a plan, and then another's. */
class Run {
    readonly request: View & Request;
    readonly response: View & Response;
    readonly straight: Straight;
    readonly number: number;
    private set: Compiled = NOTHING;
    /** What the request's way has come to so far. */
    private step = 0;
    private record: Record | undefined = undefined;
    /** The promise that middleware with an `around` wait for. */
    private answer: { resolve(response: Response): void; reject(error: unknown): void } | undefined = undefined;
    /** What the host itself gave in place of a response. */
    private given: unknown = undefined;
    /** Nobody has been told of what it waits for. */
    private isWaiting = false;
    /** Hooks that wait for a body. */
    private waiters: { resolve(): void; reject(error: unknown): void }[] = [];
    /** Why nobody waits for it any more; it is no other run's after that. */
    private gone: Error | undefined = undefined;
    /** There once somebody has asked for the signal; the host takes it away when the run is over. */
    aborts: AbortController | undefined = undefined;
    /** It is handed the record as middleware are, which may be the host's. */
    readonly send = (request: Request, record: unknown): Response | Promise<Response> => this.sent(request, (record as Partial<Straight>)[walked] ?? (record as Record));

    constructor(number: number) {
        this.number = number;
        this.request = own.view(number, true) as View & Request;
        this.response = own.view(number, false) as View & Response;
        this.straight = furnished(own.record(number));
        for (const view of [this.request, this.response]) Object.defineProperty(view, RUN, { value: this });
    }

    begin(set: number): number {
        this.step = 0;
        this.set = sets[set] as Compiled;
        try {
            return this.came(this.set.plan.run(this.request, this.send));
        } catch (error) {
            return this.fail(error);
        }
    }

    /**
     * Goes on for the host, which has called hooks itself until now. `request` is what they have made of it, and `attempt` the number
     * of the try.
     */
    adopt(set: number, request: Request, attempt: number): void {
        this.step = 0;
        this.set = sets[set] as Compiled;
        this.record = (this.set.records as Records).take(this.straight, request, this.send, attempt);
    }

    /** What the last hook returned or threw, which the walk has to look at. */
    went(at: number, hook: Called, isThrown: boolean, result: unknown, response: Response): number {
        const { record } = this;
        this.record = undefined;
        try {
            return this.came(goOn(record as Record, at, hook, isThrown, result, response));
        } catch (error) {
            return this.fail(error);
        }
    }

    /** The response's head is there. */
    answered(): number {
        const { record, answer } = this;
        this.record = undefined;
        this.answer = undefined;
        if (answer !== undefined) {
            this.isWaiting = true;
            answer.resolve(this.response);
            return PENDING;
        }
        try {
            return this.came(leave(record as Record, false, this.response));
        } catch (error) {
            return this.fail(error);
        }
    }

    /** There will be no response. */
    unanswered(message: string): number {
        const { record, answer } = this;
        this.record = undefined;
        this.answer = undefined;
        const error = Object.assign(new Error(message), { code: message });
        this.given = error;
        if (answer !== undefined) {
            this.isWaiting = true;
            answer.reject(error);
            return PENDING;
        }
        try {
            return this.came(leave(record as Record, true, error));
        } catch (thrown) {
            return this.fail(thrown);
        }
    }

    /** Aborted when nobody waits for it any more. Made when it is asked for. */
    get signal(): AbortSignal {
        if (this.aborts === undefined) {
            this.aborts = new AbortController();
            own.signalled(this.number);
        }
        return this.aborts.signal;
    }

    whole(isRequest: boolean): Promise<void> | undefined {
        if (this.gone !== undefined) throw this.gone;
        if (!own.wantBody(this.number, isRequest)) return undefined;
        return new Promise((resolve, reject) => this.waiters.push({ resolve, reject }));
    }

    /** The body that was asked for is there, or won't be. */
    bodied(): number {
        const { waiters } = this;
        this.waiters = [];
        for (const waiter of waiters) waiter.resolve();
        return PENDING;
    }

    /** Nobody waits for what it comes to. What is under way ends by itself, or because it listens to its signal. */
    left(message: string): number {
        const error = Object.assign(new Error(message), { code: message });
        this.gone = error;
        this.answer?.reject(error);
        for (const waiter of this.waiters) waiter.reject(error);
        (this.aborts ??= new AbortController()).abort(error);
        return 0;
    }

    /** The end of all middleware. What it throws, a field that can't be sent, is theirs to handle. */
    private sent(request: Request, record: Record): Response | Promise<Response> {
        if (this.gone !== undefined) throw this.gone;
        if (request !== this.request) {
            tellRequest(this.number, request);
            this.step |= CHANGED;
        }
        if (this.set.picks) this.pick(record.get(upstream));
        if (this.set.isAround) {
            this.step |= OPEN;
            const answer = new Promise<Response>((resolve, reject) => (this.answer = { resolve, reject }));
            if (this.isWaiting) this.tell(this.step);
            return answer;
        }
        if (this.set.isOutward) this.step |= OPEN;
        this.record = record;
        return LATER;
    }

    private pick(name: unknown): void {
        if (name === undefined) return;
        if (typeof name !== "string") throw new TypeError("the slot `upstream` takes the name of an upstream, a string");
        own.upstream(this.number, name);
        this.step |= CHANGED;
    }

    /** What the plan gave. */
    private came(outcome: Response | PromiseLike<Response>): number {
        if (outcome === LATER) {
            if (!this.set.isOutward) {
                const { record } = this;
                this.record = undefined;
                // Nothing of it waits, throws, or changes what is handed in.
                void leave(record as Record, false, this.response);
            }
            return this.step;
        }
        if (typeof (outcome as PromiseLike<Response>).then === "function") {
            // Nobody waits for what is only known with the response.
            this.isWaiting = this.answer === undefined;
            (outcome as PromiseLike<Response>).then(
                (response) => this.later(() => this.came(response)),
                (error: unknown) => this.later(() => this.fail(error)),
            );
            return this.isWaiting ? PENDING : this.step;
        }
        return this.tellResponse(outcome as Response);
    }

    private later(step: () => number): void {
        if (this.gone !== undefined) return;
        let told;
        try {
            told = step();
        } catch (error) {
            told = this.fail(error);
        }
        this.tell(told);
    }

    private tell(step: number): void {
        this.isWaiting = false;
        own.decided(this.number, step);
    }

    private tellResponse(response: Response): number {
        if (response === this.response) return 0;
        const { number } = this;
        if (response instanceof ChangedResponse && response.base === this.response) {
            if (response.status !== this.response.status) own.status(number, response.status);
            tellEdits(number, response.edits);
            tellBody(number, response.put);
            return CHANGED;
        }
        own.status(number, response.status);
        const { headers } = response;
        for (const name in headers) {
            const value = headers[name];
            if (value === undefined) continue;
            checkName(name);
            own.edit(number, name, value);
        }
        tellBody(number, response.body ?? null);
        return RESPONDED;
    }

    private fail(error: unknown): number {
        const { given } = this;
        this.given = undefined;
        // Nobody caught it, and whoever gave it knows it.
        if (given !== undefined && error === given) return 0;
        own.failed(this.number, textOf(error));
        return FAILED;
    }
}

function tellRequest(run: number, request: Request): void {
    if (!(request instanceof ChangedRequest)) throw new TypeError("a request that the host did not make can't be sent");
    const { base } = request;
    if (request.method !== base.method) own.line(run, "method", request.method);
    if (request.path !== base.path) own.line(run, "path", request.path);
    tellEdits(run, request.edits);
    tellBody(run, request.put);
}

function tellBody(run: number, body: unknown): void {
    if (body === undefined) return;
    if (body === UNREAD) throw new TypeError('a body that was not read can\'t be sent; write bodies: "request", or "response", beside the hooks');
    if (body !== null && typeof body !== "string" && !ArrayBuffer.isView(body) && !(body instanceof ArrayBuffer)) throw new TypeError("a body is a text, bytes, or null; write JSON.stringify(value) for an object");
    own.body(run, body as string);
}

function tellEdits(run: number, edits: Edits): void {
    for (const name in edits) own.edit(run, name, edits[name] as HeaderValue | null);
}

const signals = (request: Request): AbortSignal | undefined => (request as { readonly [RUN]?: Run })[RUN]?.signal;

/** Compiles the plans of sets of files; tells how they look. */
export function prepare(given: readonly Given[], numbers: readonly (readonly number[])[]): string {
    const files = given.map((one) => middlewareOf(one).map((each) => reading(each, whole)));
    const plans = numbers.map((set) => {
        const list = set.flatMap((number) => files[number] ?? []);
        const isAround = list.some(({ code }) => code.around !== undefined || code.again !== undefined);
        const isOutward = isAround || list.some(({ code }) => code.onResponse !== undefined || code.onError !== undefined || code.onComplete !== undefined);
        const plan = compile(list, { signals });
        // What reads bodies waits for them, which is the walk's.
        const isReading = list.some(({ bodies }) => bodies.length > 0);
        return { plan, records: isReading ? undefined : straight(plan), isOutward, isAround, picks: list.some(({ writes }) => writes.includes(upstream)) };
    });
    sets = plans;
    return plans.map(({ plan }) => plan.explain()).join("\n");
}

/** The layers of a set whose hooks the host calls itself, outermost first, where the first of an attempt is, and whether responses matter. */
export function straightLayers(set: number): readonly [layers: readonly StraightLayer[], attemptAt: number, isOutward: boolean, hearsErrors: boolean] | undefined {
    const { records, isOutward } = sets[set] as Compiled;
    if (records === undefined) return undefined;
    const hearsErrors = records.layers.some(({ onError, onComplete }) => onError !== undefined || onComplete !== undefined);
    return [layersOf(records), records.attemptAt, isOutward, hearsErrors];
}

finish(own.records);
export { walked };

/** What the host has made of a message by itself, as the walk has it. */
export const changedRequest = (run: Run, edits: Edits): Request => new ChangedRequest(run.request, run.request.method, run.request.path, edits, undefined);
export const changedResponse = (run: Run, edits: Edits, status: number): Response => new ChangedResponse(run.response, status, edits, undefined);
export const adopt = (run: Run, set: number, request: Request, attempt: number): void => run.adopt(set, request, attempt);
export const went = (run: Run, at: number, hook: Called, isThrown: boolean, result: unknown, response: Response): number => run.went(at, hook, isThrown, result, response);
export const makeRun = (number: number): Run => new Run(number);
export const begin = (run: Run, set: number): number => run.begin(set);
export const answered = (run: Run): number => run.answered();
export const unanswered = (run: Run, message: string): number => run.unanswered(message);
export const bodied = (run: Run): number => run.bodied();
export const left = (run: Run, message: string): number => run.left(message);
