// Keeps responses, and asks whether they are still good (RFC 9111, as a cache of this program's own).
import { type Context, type Failed, type Responded } from "../../middleware/context";
import { type Headers, type HeaderValue, type Request, type Response } from "../../middleware/message";
import { type ErrorPatch, middleware, type Middleware, type RequestPatch, type ResponsePatch } from "../../middleware/middleware";
import { slot } from "../../middleware/slot";
import { call, type Call } from "../call";
import { TransportError } from "../error";
import { countOf, objectOf } from "../given";
import { ageMs, directivesOf, lifetimeMs, staleIfErrorMs } from "./caching/freshness";
import { type Entry, Store } from "./caching/store";
import { headerOf, listOf } from "./header";
import { callOf } from "./own_call";

/** How much is kept. */
export interface CacheOptions {
    /** Responses at most; those go that were not used for longest. Default: 1,000. */
    readonly entriesMax?: number;
    /** Bytes of all of them at most, with 1,024 for each beside its body. Default: 16 MiB. */
    readonly bytesMax?: number;
    /** A response with a larger body is not kept. Default: 1 MiB. */
    readonly bodyBytesMax?: number;
}

const ENTRIES_MAX = 1000;
const BYTES_MAX = 16 * 1024 * 1024;
const BODY_BYTES_MAX = 1024 * 1024;

/** Whose response it is hangs on these, whether or not the peer says so. */
const CREDENTIALS = ["authorization", "cookie"];
const CONDITIONS = ["if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range"];
/** RFC 9110 section 9.2.1. */
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/** RFC 5861 section 4. */
const ERRORS: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** What was found when the request went out. */
interface Asked {
    readonly request: Request;
    /** The response that is asked about, if it is stale. */
    readonly stale: Entry | undefined;
}
const asked = slot("cache_asked").of<Asked>();

/**
 * Answers a GET from what came before, as long as the response said that it would be good, and asks again by its `etag` or
 * `last-modified` afterwards. Nothing is guessed: a response that says neither is not kept. A request that changes a path lets go of
 * what is kept of it. With `stale-if-error` a response stands in, for as long as it says, for a try whose connection fails or that comes
 * to 500, 502, 503 or 504; then nothing is tried again. One `cache()` is one store, for all transports that have it: give each service its own.
 *
 * List it last, where it sees the request as it is sent. A response to a request whose credentials were set further in is not
 * kept. Streams pass untouched.
 *
 * Cost: a copy of the body for each answer.
 * @throws {TransportError} `options.invalid`
 */
export function cache(options: CacheOptions = {}): Middleware<"attempt"> {
    const given = objectOf("cache", options, ["entriesMax", "bytesMax", "bodyBytesMax"]);
    const store = new Store({
        entriesMax: countOf("cache.entriesMax", given["entriesMax"], ENTRIES_MAX),
        bytesMax: countOf("cache.bytesMax", given["bytesMax"], BYTES_MAX),
    });
    const caching = new Caching(store, countOf("cache.bodyBytesMax", given["bodyBytesMax"], BODY_BYTES_MAX, 0));
    return middleware({
        name: "cache",
        scope: "attempt",
        reads: [call],
        writes: [asked],
        onRequest: (context) => caching.request(callOf(context), context.request),
        onResponse: (context) => caching.response(callOf(context), context),
        onError: (context) => caching.error(callOf(context), context),
    });
}

class Caching {
    private readonly store: Store;
    private readonly bodyBytesMax: number;

    constructor(store: Store, bodyBytesMax: number) {
        this.store = store;
        this.bodyBytesMax = bodyBytesMax;
    }

    request(own: Call, request: Request): RequestPatch<typeof asked> | undefined {
        const { headers, path } = request;
        if (request.method !== "GET" || own.asStream || request.body !== undefined || CONDITIONS.some((name) => Object.hasOwn(headers, name))) return undefined;
        const directives = directivesOf(headers);
        if (directives.has("no-store")) return undefined;
        const isWanted = !directives.has("no-cache") && !directives.has("max-age");
        const entry = isWanted ? this.store.find(path, headers) : undefined;
        if (entry === undefined) return { set: { cache_asked: { request, stale: undefined } } };
        const oldMs = own.clock.nowMs() - entry.madeMs;
        if (oldMs < entry.lifetimeMs) return { respond: answerOf(entry, oldMs) };
        const conditions = { "if-none-match": headerOf(entry.headers, "etag"), "if-modified-since": headerOf(entry.headers, "last-modified") };
        return { headers: conditions, set: { cache_asked: { request, stale: entry } } };
    }

    response(own: Call, context: Context<typeof call | typeof asked> & Responded): ResponsePatch<typeof asked> | undefined {
        const { request, response } = context;
        // RFC 9111 section 4.4.
        if (!SAFE.has(request.method) && response.status < 400) this.store.forget(request.path);
        const before = this.before(context);
        if (before === undefined) return undefined;
        const standIn = ERRORS.has(response.status) ? standInOf(own, before) : undefined;
        if (standIn !== undefined) {
            const gone = Object.fromEntries(Object.keys(response.headers).map((name) => [name, null]));
            return { ...standIn, headers: { ...gone, ...standIn.headers } };
        }
        if (response.status === 304 && before.stale !== undefined) return this.stillGood(own, before.request, before.stale, response);
        this.keep(own, before.request, response.status, response.headers, response.body);
        return undefined;
    }

    error(own: Call, context: Context<typeof call | typeof asked> & Failed): ErrorPatch<typeof asked> | undefined {
        const { error } = context;
        // Whoever gave the call up, or is at its end, wants no answer.
        if (!(error instanceof TransportError) || error.kind === "other") return undefined;
        const before = this.before(context);
        const standIn = before === undefined ? undefined : standInOf(own, before);
        return standIn === undefined ? undefined : { respond: standIn };
    }

    /** What was found, if the request went out as it was asked with. */
    private before(context: Context<typeof call | typeof asked>): Asked | undefined {
        const { request } = context;
        const before = context.get(asked);
        if (before === undefined || before.request.path !== request.path) return undefined;
        return CREDENTIALS.some((name) => listOf(before.request.headers, name) !== listOf(request.headers, name)) ? undefined : before;
    }

    /** The response that is kept, with the headers that came now (section 3.2). */
    private stillGood(own: Call, request: Request, stale: Entry, { headers }: Response): ResponsePatch<typeof asked> {
        const merged: Record<string, HeaderValue> = { ...stale.headers };
        for (const [name, value] of Object.entries(headers)) if (value !== undefined && name !== "content-length" && name !== "content-encoding") merged[name] = value;
        this.keep(own, request, stale.status, merged, stale.body);
        return { status: stale.status, headers: { ...merged, "content-length": null }, body: Buffer.from(stale.body) };
    }

    private keep(own: Call, request: Request, status: number, headers: Headers, body: unknown): void {
        const vary = listOf(headers, "vary") ?? "";
        const isKept =
            status === 200 &&
            body instanceof Uint8Array &&
            body.byteLength <= this.bodyBytesMax &&
            !directivesOf(headers).has("no-store") &&
            !vary.includes("*") &&
            (lifetimeMs(headers) > 0 || staleIfErrorMs(headers) > 0 || headerOf(headers, "etag") !== undefined || headerOf(headers, "last-modified") !== undefined);
        if (!isKept) return;
        const names = new Set([...CREDENTIALS, ...vary.toLowerCase().split(",").map((name) => name.trim())]);
        names.delete("");
        this.store.put({
            path: request.path,
            chosenBy: [...names].map((name) => [name, listOf(request.headers, name)] as const),
            status,
            headers: { ...headers } as Record<string, HeaderValue>,
            body: Buffer.from(body),
            // From when it was asked for on, as it may have been made at once.
            madeMs: own.startedMs - ageMs(headers),
            lifetimeMs: lifetimeMs(headers),
        });
    }
}

/** What is stale, and may be told in place of an error. */
function standInOf(own: Call, { stale }: Asked): Response | undefined {
    if (stale === undefined) return undefined;
    const oldMs = own.clock.nowMs() - stale.madeMs;
    return oldMs - stale.lifetimeMs < staleIfErrorMs(stale.headers) ? answerOf(stale, oldMs) : undefined;
}

function answerOf({ status, headers, body }: Entry, oldMs: number): Response {
    return { status, headers: { ...headers, age: String(Math.floor(oldMs / 1000)) }, body: Buffer.from(body) };
}
