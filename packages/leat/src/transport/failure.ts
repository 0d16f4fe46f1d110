// What a caller gets when a call fails: one typed error, with its tries and without secrets.
import { inspect } from "node:util";
import { type AttemptReport, TransportError } from "./error";
import { type Redactor } from "./secret";

const CAUSES_MAX = 16;

/** Makes of whatever was thrown the error of a call. */
export function failureOf(thrown: unknown, attempts: readonly AttemptReport[], redactor: Redactor): TransportError {
    const error = thrown instanceof TransportError ? thrown : new TransportError("middleware.failed", `a middleware failed: ${thrown instanceof Error ? thrown.message : typeof thrown}`, { cause: thrown });
    // One error may end several calls (a refresh of credentials that all waited for); the tries are of the first.
    if (error.attempts.length === 0) error.attempts = attempts.map((each) => Object.freeze({ ...each }));
    if (!redactor.isEmpty) redact(error, redactor);
    return error;
}

function redact(error: TransportError, redactor: Redactor): void {
    error.message = redactor.text(error.message);
    if (error.stack !== undefined) error.stack = redactor.text(error.stack);
    if (error.cause !== undefined) error.cause = clean(error.cause, redactor, 0);
}

/**
 * A cause without secrets: itself where it has none, else what can be told of it. Errors of others may keep what they like where they
 * like, so they are looked at as a logger would, and replaced as a whole.
 */
function clean(cause: unknown, redactor: Redactor, depth: number): unknown {
    const shown = inspect(cause, { depth: CAUSES_MAX, showHidden: true, maxArrayLength: Infinity, maxStringLength: Infinity });
    if (redactor.text(shown) === shown) return cause;
    if (typeof cause === "string") return redactor.text(cause);
    if (!(cause instanceof Error)) return new Error("[a cause with a secret in it]");
    const copy = new Error(redactor.text(cause.message));
    copy.name = redactor.text(cause.name);
    copy.stack = redactor.text(cause.stack ?? "");
    const { code } = cause as { readonly code?: unknown };
    if (typeof code === "string") Object.defineProperty(copy, "code", { value: redactor.text(code), enumerable: true });
    if (cause.cause !== undefined && depth < CAUSES_MAX) copy.cause = clean(cause.cause, redactor, depth + 1);
    return copy;
}
