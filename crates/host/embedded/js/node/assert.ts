// node:assert. What only a failed assertion needs is loaded when one fails.
import { codes } from "../leat/errors";
import { validateFunction } from "../leat/validate";
import type { AssertionError as Failed } from "../leat/assertion_error";

type Run = (...args: unknown[]) => unknown;
type Failure = ConstructorParameters<typeof Failed>[0];

const failure = (): typeof Failed => (require("../leat/assertion_error") as { AssertionError: typeof Failed }).AssertionError;
const equal = (one: unknown, other: unknown, strict: boolean): boolean =>
    (require("../leat/compare") as { isDeepEqual(one: unknown, other: unknown, strict: boolean): boolean }).isDeepEqual(one, other, strict);
const inspect = (value: unknown): string => (require("../leat/inspect") as typeof import("node:util")).inspect(value);

function fails(options: Failure): never {
    if (options.message instanceof Error) throw options.message;
    throw new (failure())(options);
}

/** The text of the call that failed, from the line of the source where it begins and ends. */
function expression(above: unknown): string | undefined {
    const trace: { stack?: string } = {};
    Error.captureStackTrace(trace, above as Run);
    const place = /(?:\(|at )(\/[^():]+):(\d+):(\d+)\)?$/.exec(trace.stack?.split("\n")[1] ?? "");
    if (place === null) return undefined;
    const { sourceLine } = native("process") as { sourceLine(path: string, line: number): string | undefined };
    const line = sourceLine(place[1] as string, Number(place[2]));
    const begins = line === undefined ? null : /\b[\w$]*assert[\w$]*(?:\.\w+)*\(/i.exec(line);
    if (line === undefined || begins === null) return undefined;
    let open = 0;
    for (let at = begins.index + begins[0].length - 1; at < line.length; at++) {
        if (line[at] === "(") open++;
        else if (line[at] === ")" && --open === 0) return line.slice(begins.index, at + 1);
    }
    return undefined;
}

function check(above: unknown, given: readonly unknown[]): void {
    const [value, message] = given;
    if (value) return;
    let generated: string | undefined;
    if (given.length === 0) generated = "No value argument passed to `assert.ok()`";
    else if (message === undefined || message === null) {
        const text = expression(above);
        generated = text === undefined ? "The expression evaluated to a falsy value" : `The expression evaluated to a falsy value:\n\n  ${text}\n`;
    }
    const options: Failure = { actual: value, expected: true, operator: "==", message, stackStartFn: above };
    fails(generated === undefined ? options : { ...options, generated });
}

function ok(...given: unknown[]): void {
    check(ok, given);
}

function assert(...given: unknown[]): void {
    check(assert, given);
}

type Compare = (actual: unknown, expected: unknown, message?: unknown) => void;

/** An assertion about two values. */
function about(operator: string, holds: (actual: unknown, expected: unknown) => boolean, shown = operator): Compare {
    const compare = {
        [operator](actual: unknown, expected: unknown, message?: unknown): void {
            // eslint-disable-next-line prefer-rest-params -- `undefined` that is given is a value.
            if (arguments.length < 2) throw new codes.ERR_MISSING_ARGS("actual", "expected");
            if (!holds(actual, expected)) fails({ actual, expected, message, operator: shown, stackStartFn: compare });
        },
    }[operator] as Compare;
    return compare;
}

// eslint-disable-next-line eqeqeq -- what these assertions are.
const loosely = (one: unknown, other: unknown): boolean => one == other || (one !== one && other !== other);

const notStrict = {
    equal: about("equal", loosely, "=="),
    notEqual: about("notEqual", (one, other) => !loosely(one, other), "!="),
    deepEqual: about("deepEqual", (one, other) => equal(one, other, false)),
    notDeepEqual: about("notDeepEqual", (one, other) => !equal(one, other, false)),
};
const strictOnes = {
    strictEqual: about("strictEqual", Object.is),
    notStrictEqual: about("notStrictEqual", (one, other) => !Object.is(one, other)),
    deepStrictEqual: about("deepStrictEqual", (one, other) => equal(one, other, true)),
    notDeepStrictEqual: about("notDeepStrictEqual", (one, other) => !equal(one, other, true)),
};

function fail(message?: unknown): never {
    if (message instanceof Error) throw message;
    throw new (failure())({ message, generated: "Failed", operator: "fail", stackStartFn: fail });
}

/** What stands for «it ended well». */
const NOTHING: unique symbol = Symbol("nothing thrown");

function thrownBy(run: unknown): unknown {
    validateFunction(run, "fn");
    try {
        (run as Run)();
    } catch (error) {
        return error;
    }
    return NOTHING;
}

async function rejectedBy(run: unknown): Promise<unknown> {
    let promise = run as Promise<unknown>;
    if (typeof run === "function") {
        promise = (run as () => Promise<unknown>)();
        if (typeof promise?.then !== "function") throw new codes.ERR_INVALID_RETURN_VALUE("instance of Promise", "promiseFn", promise);
    } else if (run === null || typeof run !== "object" || typeof promise.then !== "function") {
        throw new codes.ERR_INVALID_ARG_TYPE("promiseFn", ["Function", "Promise"], run);
    }
    try {
        await promise;
    } catch (error) {
        return error;
    }
    return NOTHING;
}

/** Whether what was thrown is what was expected; fails or throws it on if not. */
function matches(actual: unknown, expected: unknown, message: unknown, above: Run): void {
    if (expected === undefined) return;
    const options = { actual, expected, operator: above.name, stackStartFn: above };
    if (typeof expected === "function") {
        if ((expected as Run).prototype !== undefined && actual instanceof (expected as unknown as new () => object)) return;
        if (Object.prototype.isPrototypeOf.call(Error, expected) || expected === Error) {
            if (actual instanceof Error) {
                const what = `The error is expected to be an instance of "${(expected as Run).name}". Received "${actual.constructor.name}"\n\nError message:\n\n${actual.message}`;
                fails({ ...options, message, generated: what });
            }
            throw actual;
        }
        if (Reflect.apply(expected as Run, {}, [actual]) === true) return;
        const name = (expected as Run).name ? `"${(expected as Run).name}" ` : "";
        const caught = `\n\nCaught error:\n\n${actual instanceof Error ? (actual.stack ?? "") : inspect(actual)}`;
        fails({ ...options, message, generated: `The ${name}validation function is expected to return "true". Received ${inspect(Reflect.apply(expected as Run, {}, [actual]))}${caught}` });
    }
    if (expected instanceof RegExp) {
        if (expected.test(String(actual))) return;
        fails({ ...options, message, generated: `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(String(actual))}\n` });
    }
    if (typeof expected !== "object" || expected === null) throw new codes.ERR_INVALID_ARG_TYPE("expected", ["Function", "Error", "RegExp", "Object"], expected);
    const keys = Object.keys(expected);
    if (expected instanceof Error) keys.push("name", "message");
    else if (keys.length === 0) throw new codes.ERR_INVALID_ARG_VALUE("error", expected, "may not be an empty object");
    for (const key of keys) {
        const wanted = (expected as Record<string, unknown>)[key];
        const has = actual !== null && typeof actual === "object" && key in actual;
        const value = has ? (actual as Record<string, unknown>)[key] : undefined;
        if (has && typeof value === "string" && wanted instanceof RegExp && wanted.test(value)) continue;
        if (has && equal(value, wanted, true)) continue;
        const part = (object: unknown): object => Object.fromEntries(keys.filter((name) => name in Object(object)).map((name) => [name, (object as Record<string, unknown>)[name]]));
        fails({ ...options, actual: part(actual), expected: part(expected), message, operator: "deepStrictEqual" });
    }
}

function expects(above: Run, actual: unknown, error: unknown, message: unknown): void {
    let expected = error;
    let said = message;
    if (typeof error === "string") {
        if (message !== undefined) throw new codes.ERR_INVALID_ARG_TYPE("error", ["Object", "Error", "Function", "RegExp"], error);
        expected = undefined;
        said = error;
    }
    if (actual === NOTHING) {
        let details = typeof expected === "function" && (expected as Run).name ? ` (${(expected as Run).name})` : "";
        details += said ? `: ${String(said)}` : ".";
        const kind = above.name === "rejects" ? "rejection" : "exception";
        fails({ actual: undefined, expected, operator: above.name, message: `Missing expected ${kind}${details}`, stackStartFn: above });
    }
    matches(actual, expected, said, above);
}

function unwanted(above: Run, actual: unknown, error: unknown, message: unknown): void {
    if (actual === NOTHING) return;
    const said = typeof error === "string" ? error : message;
    const expected = typeof error === "string" ? undefined : error;
    const wanted =
        expected === undefined ||
        (expected instanceof RegExp ? expected.test(String(actual)) : typeof expected === "function" && actual instanceof (expected as unknown as new () => object));
    if (!wanted) throw actual;
    const kind = above.name === "doesNotReject" ? "rejection" : "exception";
    const what = `Got unwanted ${kind}${said ? `: ${String(said)}` : "."}\nActual message: "${(actual as Error | undefined)?.message}"`;
    fails({ actual, expected, operator: above.name, message: what, stackStartFn: above });
}

function throws(run: unknown, error?: unknown, message?: unknown): void {
    expects(throws as Run, thrownBy(run), error, message);
}

function doesNotThrow(run: unknown, error?: unknown, message?: unknown): void {
    unwanted(doesNotThrow as Run, thrownBy(run), error, message);
}

async function rejects(run: unknown, error?: unknown, message?: unknown): Promise<void> {
    expects(rejects as Run, await rejectedBy(run), error, message);
}

async function doesNotReject(run: unknown, error?: unknown, message?: unknown): Promise<void> {
    unwanted(doesNotReject as Run, await rejectedBy(run), error, message);
}

function ifError(value: unknown): void {
    if (value === null || value === undefined) return;
    const text = value instanceof Error ? (value.message === "" ? value.constructor.name : value.message) : inspect(value);
    fails({ actual: value, expected: null, operator: "ifError", message: `ifError got unwanted exception: ${text}`, stackStartFn: ifError });
}

function matching(name: "match" | "doesNotMatch", wanted: boolean): (text: unknown, regexp: RegExp, message?: unknown) => void {
    const run = {
        [name](text: unknown, regexp: RegExp, message?: unknown): void {
            if (!(regexp instanceof RegExp)) throw new codes.ERR_INVALID_ARG_TYPE("regexp", "RegExp", regexp);
            if (typeof text === "string" && regexp.test(text) === wanted) return;
            const generated =
                typeof text !== "string"
                    ? `The "string" argument must be of type string. Received type ${typeof text} (${inspect(text)})`
                    : `The input ${wanted ? "did not match the regular expression" : "was expected to not match the regular expression"} ${inspect(regexp)}. Input:\n\n${inspect(text)}\n`;
            fails({ actual: text, expected: regexp, message, generated, operator: name, stackStartFn: run });
        },
    }[name] as (text: unknown, regexp: RegExp, message?: unknown) => void;
    return run;
}

const common = {
    ok,
    fail,
    throws,
    rejects,
    doesNotThrow,
    doesNotReject,
    ifError,
    match: matching("match", true),
    doesNotMatch: matching("doesNotMatch", false),
    ...strictOnes,
};

function strict(...given: unknown[]): void {
    check(strict, given);
}

for (const target of [assert, strict]) {
    Object.defineProperty(target, "AssertionError", { configurable: true, enumerable: true, get: failure });
}
Object.assign(assert, notStrict, common, { strict });
Object.assign(strict, common, {
    equal: strictOnes.strictEqual,
    notEqual: strictOnes.notStrictEqual,
    deepEqual: strictOnes.deepStrictEqual,
    notDeepEqual: strictOnes.notDeepStrictEqual,
    strict,
});

module.exports = assert;
