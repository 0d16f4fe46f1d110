// Sends the items of a bulk request that were turned away again, and only those.
import { type Context } from "../../middleware/context";
import { type Request, type Response } from "../../middleware/message";
import { middleware, type Middleware, type Next } from "../../middleware/middleware";
import { patchResponse } from "../../middleware/patch";
import { slot } from "../../middleware/slot";
import { call, type Call } from "../call";
import { sleep } from "../clock";
import { TransportError, wrongOption } from "../error";
import { objectOf } from "../given";
import { afterTry, type RetrySettings } from "../policy/retry";
import { retryAfterUs } from "../policy/retry_after";
import { msOf, usOf } from "../policy/time";
import { elementsOf, membersOf, operationsOf, statusOf, type Members } from "./bulk_items";
import { headerOf } from "./header";
import { callOf } from "./own_call";
import { type RetryOptions, retrySettingsOf } from "./retry_options";

/** When items are sent again. */
export interface BulkRetryOptions extends Pick<RetryOptions, "retriesMax" | "baseMs" | "maxMs" | "jitter" | "retryAfterMsMax"> {
    /** The statuses of items that are sent again. Default: 429. */
    readonly statuses?: readonly number[];
    /** Which requests are bulks. Default: POST and PUT to a path that ends in `/_bulk`. */
    readonly matches?: (request: Request) => boolean;
}

/** A response with results: all its members, and the results one by one. */
interface Results {
    readonly members: Members;
    readonly items: string[];
}

/** What there is of a bulk until now. */
class Bulk {
    readonly operations: readonly string[];
    readonly members: Members;
    /** The result of each operation, as it came last. */
    readonly items: string[];
    /** The places of the operations that were turned away. */
    left: readonly number[];
    /** The latest that had results. */
    response: Response;
    tookMs: number;
    rounds = 0;

    constructor(operations: readonly string[], { members, items }: Results, left: readonly number[], response: Response) {
        this.operations = operations;
        this.members = members;
        this.items = items;
        this.left = left;
        this.response = response;
        this.tookMs = tookOf(members);
    }

    /** The operations that are left, as a body. */
    get body(): string {
        return this.left.map((at) => this.operations[at]).join("");
    }
}

/** Elasticsearch writes `took` and `errors` before `items`. */
const HEAD_BYTES = 256;

const state = slot("bulk_retry_state").of<Bulk>();

/**
 * Sends those items of a bulk again whose own status is 429, after a wait as `retry`'s, and puts all results together at the places
 * that they belong to. What stays turned away is in the result as it came last; an error in a later round is the call's.
 *
 * It reads what is sent and what comes, so list it before `compression`. Bodies that are streams, and responses that are taken as
 * streams, pass untouched.
 *
 * @throws {TransportError} `options.invalid`, also in a call whose body is compressed already
 */
export function bulkRetry(options: BulkRetryOptions = {}): Middleware<"attempt"> {
    const given = objectOf("bulkRetry", options, ["retriesMax", "baseMs", "maxMs", "jitter", "retryAfterMsMax", "statuses", "matches"]);
    const { matches = isBulk, statuses, ...times } = given as BulkRetryOptions;
    if (typeof matches !== "function") throw wrongOption("bulkRetry.matches", matches, 'a function: (request) => request.path.endsWith("/_bulk")');
    const { rules } = retrySettingsOf({ ...times, statuses: [], statusesAnyMethod: statuses ?? [429] });
    const retrying = new BulkRetrying(rules, matches);
    return middleware({ name: "bulkRetry", scope: "attempt", repeats: true, reads: [call], writes: [state], around: (context, next) => retrying.around(context, next) });
}

function isBulk({ method, path }: Request): boolean {
    return (method === "POST" || method === "PUT") && /\/_bulk(?:\?|$)/.test(path);
}

type Mine = Context<typeof call | typeof state>;

class BulkRetrying {
    private readonly rules: RetrySettings;
    private readonly matches: (request: Request) => boolean;

    constructor(rules: RetrySettings, matches: (request: Request) => boolean) {
        this.rules = rules;
        this.matches = matches;
    }

    around(context: Mine, next: Next<typeof state>): Response | PromiseLike<Response> {
        const { request } = context;
        const own = callOf(context);
        if (own.asStream || !this.matches(request)) return next();
        const body = textOf(request.body);
        if (body === undefined) return next();
        if (Object.hasOwn(request.headers, "content-encoding")) throw new TransportError("options.invalid", "bulkRetry cannot read a body that is compressed; list it before compression");
        return this.run(own, body, context.get(state), next);
    }

    private async run(own: Call, body: string, before: Bulk | undefined, next: Next<typeof state>): Promise<Response> {
        // A try of the whole call after one in which a part was done already.
        let bulk = before;
        let response = await (bulk === undefined ? next() : next({ body: bulk.body }));
        for (;;) {
            bulk = bulk === undefined ? this.first(body, response) : this.further(bulk, response);
            if (bulk === undefined) return response;
            const waitMs = this.waitMs(own, bulk, response);
            if (waitMs === undefined) return merged(bulk);
            await sleep(own.clock, waitMs, own.signal);
            bulk.rounds += 1;
            response = await next({ body: bulk.body, set: { bulk_retry_state: bulk } });
        }
    }

    /** The bulk, if some of it was turned away. */
    private first(body: string, response: Response): Bulk | undefined {
        if (isFine(response)) return undefined;
        const found = resultsOf(response);
        if (found === undefined) return undefined;
        const left = this.turnedAway(found.items);
        if (left.length === 0) return undefined;
        const operations = operationsOf(body);
        return operations?.length === found.items.length ? new Bulk(operations, found, left, response) : undefined;
    }

    /** Takes the results of those that were sent again. A response that has none turned all of them away. */
    private further(bulk: Bulk, response: Response): Bulk {
        const found = resultsOf(response);
        if (found === undefined || found.items.length !== bulk.left.length) return bulk;
        const places = bulk.left;
        places.forEach((place, at) => {
            bulk.items[place] = found.items[at] as string;
        });
        bulk.left = this.turnedAway(found.items).map((at) => places[at] as number);
        bulk.response = response;
        bulk.tookMs += tookOf(found.members);
        return bulk;
    }

    private turnedAway(items: readonly string[]): readonly number[] {
        return items.flatMap((item, at) => (this.rules.statusesAnyMethod.has(statusOf(item) ?? 0) ? [at] : []));
    }

    private waitMs(own: Call, bulk: Bulk, response: Response): number | undefined {
        if (bulk.left.length === 0) return undefined;
        const isOff = response.status !== 200 && !this.rules.statusesAnyMethod.has(response.status);
        if (isOff) return undefined;
        const asked = headerOf(response.headers, "retry-after");
        const [status = 429] = this.rules.statusesAnyMethod;
        const ended = {
            number: bulk.rounds,
            outcome: "status" as const,
            status,
            retryAfterUs: asked === undefined ? undefined : retryAfterUs(asked, usOf(own.clock.timeMs())),
            isIdempotent: true,
            isBodyConsumed: false,
        };
        const nowUs = usOf(own.clock.nowMs());
        const verdict = afterTry(this.rules, ended, nowUs, nowUs + usOf(own.leftMs()), undefined, own.random);
        return typeof verdict === "number" ? msOf(verdict) : undefined;
    }
}

/** Says that nothing failed before its results begin, so that they need not be read. */
function isFine({ body }: Response): boolean {
    if (!(body instanceof Uint8Array)) return false;
    return /^[^[]*"errors"\s*:\s*false/.test(Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, HEAD_BYTES)).toString());
}

/** The results of a bulk; undefined for everything else. */
function resultsOf({ status, body, headers }: Response): Results | undefined {
    if (status !== 200) return undefined;
    if (Object.hasOwn(headers, "content-encoding")) throw new TransportError("options.invalid", "bulkRetry cannot read a response that is compressed; list it before compression");
    const text = textOf(body);
    const members = text === undefined ? undefined : membersOf(text);
    const items = members === undefined ? undefined : elementsOf(members.get("items") ?? "");
    return members === undefined || items === undefined ? undefined : { members, items };
}

/** One response as if all had been sent once. */
function merged(bulk: Bulk): Response {
    const isFailed = bulk.items.some((item) => (statusOf(item) ?? 0) >= 300);
    const members = new Map(bulk.members).set("items", `[${bulk.items.join(",")}]`).set("errors", String(isFailed)).set("took", String(bulk.tookMs));
    const text = `{${[...members].map(([name, value]) => `"${name}":${value}`).join(",")}}`;
    return patchResponse(bulk.response, { body: Buffer.from(text), headers: { "content-length": null } });
}

function tookOf(members: Members): number {
    const took = Number(members.get("took"));
    return Number.isFinite(took) ? took : 0;
}

function textOf(body: unknown): string | undefined {
    if (typeof body === "string") return body;
    return body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString() : undefined;
}
