// Errors whose expectation is told in words of its own, beside those of `errors`: what a module is missing, and arguments.
import { coded, codes, received, type CodedError } from "./errors";

export const codedError = (code: string, message: string): CodedError => coded(new Error(message), code);
export const codedTypeError = (code: string, message: string): CodedError => coded(new TypeError(message), code);
export const codedRangeError = (code: string, message: string): CodedError => coded(new RangeError(message), code);

/** `expected` is what Node says behind «must be». */
export function invalidType(name: string, expected: string, value: unknown): CodedError {
    return codedTypeError("ERR_INVALID_ARG_TYPE", `The "${name}" ${name.includes(".") ? "property" : "argument"} must be ${expected}. Received ${received(value)}`);
}

export const invalidValue = (name: string, value: unknown, reason?: string): CodedError => new codes.ERR_INVALID_ARG_VALUE(name, value, reason);
export const outOfRange = (name: string, range: string, value: unknown): CodedError => new codes.ERR_OUT_OF_RANGE(name, range, value);

/** Something that this host does not have, and what to do. */
export function missing(what: string, way = "run the program on Node.js, with `node --import leat/register`"): CodedError {
    return codedError("ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", `leat run has no ${what}: ${way}`);
}
