// Errors as Node's own modules throw them: `new codes.ERR_X(...)` is a TypeError, RangeError or Error whose `code` is its own,
// whose name stays the class's, and which shows itself as `TypeError [ERR_X]: message`. What a code's class is and how its message
// is put together stands in `_error_messages.ts`; a code's constructor is made when it is first asked for.
import { messages } from "./_error_messages";
import type { ErrorCode } from "./_error_messages";

export { received } from "./_error_messages";

/** An error with Node's code. */
export interface CodedError extends Error {
    code: string;
}

type Base = new (message?: string, options?: ErrorOptions) => Error;
type CodedConstructor = new (...args: unknown[]) => CodedError;

const bases: Record<"T" | "R" | "E" | "U" | "S", Base> = { T: TypeError, R: RangeError, E: Error, U: URIError, S: SyntaxError };
const capture = (Error as unknown as { captureStackTrace(target: object, above: unknown): void }).captureStackTrace;

function shown(this: CodedError): string {
    return `${this.name} [${this.code}]: ${this.message}`;
}

const toString = { value: shown, enumerable: false, writable: true, configurable: true };

/** Makes `error` one of Node's: gives it its code and the way it is shown. */
export function coded<E extends Error>(error: E, code: string): E & CodedError {
    Object.defineProperty(error, "toString", toString);
    (error as E & CodedError).code = code;
    return error as E & CodedError;
}

/** The constructor of errors called `code`, of class `Base`, whose message `tell` makes of the constructor's arguments. */
export function codeOf(code: string, Base: Base, tell: string | ((...args: never[]) => string)): CodedConstructor {
    function NodeError(...args: unknown[]): CodedError {
        const message = typeof tell === "string" ? tell : (tell as (...args: unknown[]) => string)(...args);
        const error = new Base(message);
        capture(error, NodeError);
        return coded(error, code);
    }
    return NodeError as unknown as CodedConstructor;
}

/** Node's error constructors by code. A code that is not known here is a programming error of a built-in. */
export const codes: Record<ErrorCode, CodedConstructor> = new Proxy({} as Record<ErrorCode, CodedConstructor>, {
    get(made, code: string) {
        const known = made[code as ErrorCode];
        if (known !== undefined) return known;
        const entry = messages[code as ErrorCode];
        if (entry === undefined) throw new Error(`no message is known for ${code}`);
        const [base, tell] = entry;
        return (made[code as ErrorCode] = codeOf(code, bases[base], tell));
    },
});

/** What a cancelled operation throws or rejects with. */
export class AbortError extends Error {
    code = "ABORT_ERR";
    constructor(message = "The operation was aborted", options?: ErrorOptions) {
        if (options !== undefined && typeof options !== "object") throw new codes.ERR_INVALID_ARG_TYPE("options", "Object", options);
        super(message, options);
        this.name = "AbortError";
    }
}

/** Of the errors of a thing and of its clean-up, one: Node's AggregateError if there are two. */
export function aggregateTwoErrors(inner: unknown, outer: unknown): unknown {
    if (!inner || !outer || inner === outer) return inner || outer;
    const listed = (outer as { errors?: unknown[] }).errors;
    if (Array.isArray(listed)) {
        listed.push(inner);
        return outer;
    }
    const both = new AggregateError([outer, inner], (outer as Error).message) as AggregateError & { code?: unknown };
    both.code = (outer as CodedError).code;
    return both;
}
