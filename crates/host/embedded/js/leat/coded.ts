// Errors with Node's codes, and the checks of arguments that throw them.

type Kind = new (message: string) => Error;
type Coded = Error & { code: string };

function make(kind: Kind, code: string, message: string): Coded {
    const error = new kind(message) as Coded;
    error.code = code;
    Object.defineProperty(error, "toString", {
        configurable: true,
        enumerable: false,
        writable: true,
        value(this: Error) {
            return `${this.name} [${code}]: ${this.message}`;
        },
    });
    return error;
}

export const codedError = (code: string, message: string): Coded => make(Error, code, message);
export const codedTypeError = (code: string, message: string): Coded => make(TypeError, code, message);
export const codedRangeError = (code: string, message: string): Coded => make(RangeError, code, message);

function shown(value: unknown): string {
    return (require("node:util") as typeof import("node:util")).inspect(value, { colors: false });
}

/** What was given instead, as messages end. */
export function received(value: unknown): string {
    if (value === null || value === undefined) return ` Received ${value}`;
    if (typeof value === "function") return ` Received function ${value.name}`;
    if (typeof value === "object") {
        const name = (value as { constructor?: { name?: string } }).constructor?.name;
        return name ? ` Received an instance of ${name}` : ` Received ${shown(value)}`;
    }
    let text = typeof value === "string" ? `'${value}'` : typeof value === "bigint" ? `${value}n` : String(value);
    if (text.length > 28) text = `${text.slice(0, 25)}...`;
    return ` Received type ${typeof value} (${text})`;
}

/** `expected` is what Node says behind «must be». */
export function invalidType(name: string, expected: string, value: unknown): Coded {
    const what = name.endsWith(" argument") ? `The ${name}` : `The "${name}" ${name.includes(".") ? "property" : "argument"}`;
    return codedTypeError("ERR_INVALID_ARG_TYPE", `${what} must be ${expected}.${received(value)}`);
}

export function invalidValue(name: string, value: unknown, reason = "is invalid"): Coded {
    let text = typeof value === "string" ? `'${value.replaceAll("\0", "\\x00").replaceAll("\n", "\\n")}'` : shown(value);
    if (text.length > 128) text = `${text.slice(0, 128)}...`;
    return codedTypeError("ERR_INVALID_ARG_VALUE", `The ${name.includes(".") ? "property" : "argument"} '${name}' ${reason}. Received ${text}`);
}

/** With `_` between thousands, as Node shows numbers out of range. */
function thousands(value: number | bigint): string {
    const text = String(value);
    const [, sign = "", digits = ""] = /^(-?)(\d+)$/.exec(text) ?? [];
    return digits.length > 4 ? sign + digits.replace(/\B(?=(\d{3})+$)/g, "_") : text;
}

export function outOfRange(name: string, range: string, value: unknown): Coded {
    const big = typeof value === "bigint" ? `${thousands(value)}n` : undefined;
    const text = big ?? (typeof value === "number" && Number.isInteger(value) && Math.abs(value) > 2 ** 32 ? thousands(value) : typeof value === "string" ? `'${value}'` : String(value));
    return codedRangeError("ERR_OUT_OF_RANGE", `The value of "${name}" is out of range. It must be ${range}. Received ${text}`);
}

export function checkFunction(value: unknown, name: string): void {
    if (typeof value !== "function") throw invalidType(name, "of type function", value);
}

export function checkString(value: unknown, name: string): asserts value is string {
    if (typeof value !== "string") throw invalidType(name, "of type string", value);
}

export function checkInteger(value: unknown, name: string, least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER): asserts value is number {
    if (typeof value !== "number") throw invalidType(name, "of type number", value);
    if (!Number.isInteger(value)) throw outOfRange(name, "an integer", value);
    if (value < least || value > most) throw outOfRange(name, `>= ${least} && <= ${most}`, value);
}

/** Something that this host does not have. */
export function missing(what: string, way: string): Coded {
    return codedError("ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", `leat run has no ${what}: ${way}`);
}
