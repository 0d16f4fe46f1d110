// What every middleware of a transport has to hold to, as cases that any test runner can run.
import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import { Readable } from "node:stream";
import { inspect } from "node:util";
import { isThenable } from "../../middleware/apply";
import { type Response } from "../../middleware/message";
import { middleware, type Middleware } from "../../middleware/middleware";
import { compile } from "../../middleware/plan";
import { OnceBody } from "../body/body";
import { call } from "../call";
import { TransportError } from "../error";
import { LiveCall } from "../live";
import { Redactor } from "../secret";
import { type ScriptedReply, type ScriptedStep } from "./scripted_connection";
import { BODY, CallersSignal, REQUEST, SECRET, Subject } from "./subject";
import { VirtualClock } from "./virtual_clock";

/** What is known of the middleware. */
export interface ConformanceOptions {
    /** Other middleware that it needs, made anew for each case; they come after it. */
    readonly beside?: () => readonly Middleware[];
    /** What the peer answers where a case doesn't mind. Default: 200 with a small JSON object. */
    readonly reply?: ScriptedReply;
    /** It waits before it sends even if there is nothing to wait for: it compresses, or asks for a token. Default: false. */
    readonly waits?: boolean;
    /** It answers in the place of a peer that failed. Default: false. */
    readonly answersErrors?: boolean;
}

/** One thing to hold to: `test(name, run)`. */
export interface ConformanceCase {
    readonly name: string;
    /** @throws {AssertionError} with what was seen */
    readonly run: () => Promise<void>;
}

type Play = (given: Given) => Promise<void> | void;

interface Given {
    readonly list: () => readonly Middleware[];
    readonly reply: ScriptedReply;
    readonly answersErrors: boolean;
}

const REPLY: ScriptedReply = { status: 200, headers: { "content-type": "application/json", "x-elastic-product": "Elasticsearch" }, body: '{"fine":true}' };
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Until a try is under way, in ms, whatever a middleware waits for before. */
const LONG_MS = 60_000;

const CASES: Readonly<Record<string, Play>> = {
    "a call comes to the peer's response": async ({ list, reply }) => {
        const subject = new Subject(list(), () => reply);
        const { status } = await subject.request();
        assert.equal(status, reply.status ?? 200);
        assert.ok(subject.connection.exchanges.length > 0, "nothing was sent");
    },

    "it holds to the contract as development mode sees it": async ({ list, reply }) => {
        await new Subject(list(), () => reply, { development: true }).request();
    },

    "what it sends can be sent": async ({ list, reply }) => {
        const subject = new Subject(list(), () => reply);
        await subject.request();
        for (const { headers, path } of subject.connection.exchanges) {
            assert.match(path, /^\/[\x21-\x7e]*$/);
            for (const [name, value] of Object.entries(headers)) {
                assert.match(name, HEADER_NAME, `the header ${JSON.stringify(name)}`);
                for (const each of [value ?? ""].flat()) assert.match(each, HEADER_VALUE, `the value of the header ${name}`);
            }
        }
    },

    "after a call nothing of it waits or listens": async ({ list, reply }) => {
        for (const afterMs of [undefined, 10]) {
            const subject = new Subject(list(), () => (afterMs === undefined ? reply : { ...reply, afterMs }));
            const signal = new CallersSignal();
            await subject.request({ signal });
            assert.deepEqual(subject.left(), []);
            assert.equal(signal.listenerCount, 0, "listeners at the caller's signal");
        }
    },

    "an error of the connection reaches the caller": async ({ list, answersErrors }) => {
        for (const step of [{ fails: "connection.protocol" }, { fails: "connection.protocol", afterMs: 5 }] satisfies ScriptedStep[]) {
            const failure = await failureOf(new Subject(list(), () => step).request());
            if (answersErrors && failure === undefined) continue;
            assert.ok(failure instanceof TransportError, `it came to ${inspect(failure)}`);
            assert.ok(leadsTo(failure, "connection.protocol"), `neither the error nor its causes are the connection's: ${failure.code}: ${failure.message}`);
        }
    },

    "an abort ends a call at once, wherever it is": async ({ list }) => {
        const subject = new Subject(list(), () => "silent");
        const signal = new CallersSignal();
        const calling = failureOf(subject.begin({ signal }));
        await subject.clock.advance(LONG_MS);
        signal.give(new Error("enough"));
        const failure = await Promise.race([calling, subject.clock.advance(0).then(() => "nothing, at once")]);
        assert.ok(failure instanceof TransportError, `it came to ${inspect(failure)}`);
        assert.equal(failure.code, "call.aborted");
        await subject.clock.advance(0);
        assert.deepEqual(subject.left(), []);
        assert.equal(signal.listenerCount, 0, "listeners at the caller's signal");
    },

    "a call that was aborted before is not sent": async ({ list, reply }) => {
        const subject = new Subject(list(), () => reply);
        const signal = new CallersSignal();
        signal.give(new Error("early"));
        const failure = await failureOf(subject.request({ signal }));
        assert.ok(failure instanceof TransportError && failure.code === "call.aborted", `it came to ${inspect(failure)}`);
        assert.equal(subject.connection.exchanges.length, 0, "tries were sent");
    },

    "the deadline ends a call on time": async ({ list }) => {
        const subject = new Subject(list(), () => "silent");
        const failure = await failureOf(subject.request({ timeoutMs: 1000 }));
        assert.ok(failure instanceof TransportError && failure.code === "call.deadline", `it came to ${inspect(failure)}`);
        assert.equal(subject.clock.nowMs(), 1000);
        await subject.clock.advance(0);
        assert.deepEqual(subject.left(), []);
    },

    "calls that overlap don't mix": async ({ list, reply }) => {
        // The later a call begins, the sooner it is answered.
        const { headers } = reply;
        const subject = new Subject(list(), ({ path }) => ({ status: 200, ...(headers === undefined ? {} : { headers }), body: JSON.stringify({ path }), afterMs: 100 - 10 * Number(/\d+/.exec(path)?.[0]) }));
        const numbers = [1, 2, 3, 4, 5];
        const calls = numbers.map((number) => subject.begin({ path: `/${number}`, querystring: undefined, headers: { "x-number": String(number) }, as: "json" }));
        const responses = await subject.clock.settle(Promise.all(calls));
        responses.forEach(({ body }, at) => assert.deepEqual(body, { path: `/${numbers[at] ?? 0}` }, "a call has another one's response"));
        for (const { path, headers: sent } of subject.connection.exchanges) assert.equal(sent["x-number"], path.slice(1), "a call was sent with another one's header");
    },

    "every try begins as the first did": async ({ list, reply }) => {
        const own = list();
        // A plan has one middleware that repeats; its own tries are seen by its own tests.
        if (own.some(({ scope, repeats }) => repeats && scope === "call")) return;
        const subject = new Subject([twice, ...own], () => reply);
        await subject.request();
        const shown = subject.connection.exchanges.map(({ method, path, headers, body }) => ({ method, path, names: Object.keys(headers).sort(), body: body?.toString() }));
        assert.ok(shown.length >= 2, `${shown.length} tries were sent, of 2`);
        assert.deepEqual(shown[1], shown[0]);
    },

    "a streamed response is left to its reader": async ({ list, reply }) => {
        const pieces = ['{"in":', '"pieces"}'];
        const { headers } = reply;
        const subject = new Subject(list(), () => ({ status: 200, ...(headers === undefined ? {} : { headers }), body: pieces, everyMs: 10 }));
        const { body } = await subject.request({ as: "stream" });
        assert.ok(body instanceof Readable, `the body is ${inspect(body)}`);
        const read = await subject.clock.settle((body.toArray() as Promise<Buffer[]>).then((all) => Buffer.concat(all).toString()));
        assert.equal(read, pieces.join(""));
    },

    "a body that can be read once is sent whole, and once": async ({ list, reply }) => {
        const subject = new Subject(list(), () => reply);
        await subject.request({ body: new OnceBody(Readable.from([BODY.slice(0, 100), BODY.slice(100)])) });
        const { body, headers } = subject.connection.exchanges[0] ?? assert.fail("nothing was sent");
        if (headers["content-encoding"] === undefined) assert.equal(body?.toString(), BODY);
    },

    "no error tells a secret": async ({ list }) => {
        for (const step of [{ fails: "connection.protocol" }, { status: 500, body: SECRET }, { status: 401 }] satisfies ScriptedStep[]) {
            const failure = await failureOf(new Subject(list(), () => step).request());
            const told = `${String(failure)} ${inspect(failure, { depth: 20, showHidden: true })} ${JSON.stringify(failure)}`;
            assert.ok(!told.includes(SECRET), "the value of a secret header stands in the error");
        }
    },
};

const ONLY_UNLESS_WAITS: Readonly<Record<string, Play>> = {
    "no promise is made before something waits": ({ list }) => {
        const plan = compile(list(), { provides: [call] });
        const clock = new VirtualClock();
        const limits = { rawBytesMax: Infinity, decodedBytesMax: Infinity, ratioMax: Infinity };
        const host = { clock, random: () => 0, redactor: new Redactor(), limits, ended: () => undefined };
        const live = new LiveCall(host, {}, false, Infinity, Infinity, undefined);
        const request = { method: REQUEST.method, path: REQUEST.path, headers: { "x-conformance": "1" }, body: BODY };
        let result: Response | PromiseLike<Response> | undefined;
        const made = promises(() => {
            result = plan.run(request, () => ({ status: 200, headers: { ...REPLY.headers }, body: Buffer.from("{}") }), { signal: live, set: { call: live } });
        });
        assert.ok(!isThenable(result), "the plan returned a promise, though nothing waits; say so with { waits: true } if it has to");
        assert.equal(made, 0, "promises were made");
    },
};

/**
 * The cases for one middleware, which `make` makes anew for each:
 *
 * ```js
 * for (const { name, run } of conformance(() => mine())) test(name, run);
 * ```
 */
export function conformance(make: () => Middleware | readonly Middleware[], options: ConformanceOptions = {}): readonly ConformanceCase[] {
    const given: Given = {
        list: () => [...[make()].flat(), ...(options.beside?.() ?? [])],
        reply: { ...REPLY, ...options.reply },
        answersErrors: options.answersErrors === true,
    };
    const cases = options.waits === true ? CASES : { ...CASES, ...ONLY_UNLESS_WAITS };
    return Object.entries(cases).map(([name, play]) => ({ name, run: async () => play(given) }));
}

/** Outside of all: two tries of each call. */
const twice = middleware({ name: "conformance_twice", scope: "call", repeats: true, around: (_context, next) => after(next(), next) });

function after(first: Response | PromiseLike<Response>, next: () => Response | PromiseLike<Response>): Response | PromiseLike<Response> {
    return isThenable(first) ? first.then(() => next()) : next();
}

function failureOf(calling: Promise<unknown>): Promise<unknown> {
    return calling.then(
        () => undefined,
        (error: unknown) => error,
    );
}

const CAUSES_MAX = 16;

function leadsTo(error: unknown, code: string): boolean {
    let each = error;
    for (let depth = 0; depth < CAUSES_MAX && each instanceof Error; depth++) {
        if (each instanceof TransportError && each.code === code) return true;
        each = each.cause;
    }
    return false;
}

/** How many promises `run` makes, by whatever means the language has. */
function promises(run: () => void): number {
    let count = 0;
    const hook = createHook({
        init: (_id, type) => {
            if (type === "PROMISE") count++;
        },
    }).enable();
    try {
        run();
    } finally {
        hook.disable();
    }
    return count;
}
