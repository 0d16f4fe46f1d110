// Values of options, each checked as it is read. Built-in middleware read theirs by the same functions.
import { wrongOption } from "./error";

/** An object with no members but those that are known. */
export function objectOf(name: string, given: unknown, known: readonly string[]): Readonly<Record<string, unknown>> {
    if (typeof given !== "object" || given === null || Array.isArray(given)) throw wrongOption(name, given, `an object: { ${known.slice(0, 3).join(", ")} }`);
    const unknown = Object.keys(given).find((key) => !known.includes(key));
    if (unknown !== undefined) throw wrongOption(name, given, `${known.join(", ")}, and no "${unknown}"`);
    return given as Readonly<Record<string, unknown>>;
}

/** A time in milliseconds, above 0; `Infinity` is one. */
export function durationOf(name: string, given: unknown, otherwise: number, accepted = "milliseconds above 0, or Infinity"): number {
    if (given === undefined) return otherwise;
    if (typeof given === "number" && given > 0) return given;
    throw wrongOption(name, given, accepted);
}

/** A whole number from `least` on. */
export function countOf(name: string, given: unknown, otherwise: number, least = 1): number {
    if (given === undefined) return otherwise;
    if (typeof given === "number" && Number.isSafeInteger(given) && given >= least) return given;
    throw wrongOption(name, given, `a whole number from ${least} on`);
}

/** Yes or no. */
export function flagOf(name: string, given: unknown, otherwise: boolean): boolean {
    if (given === undefined) return otherwise;
    if (typeof given === "boolean") return given;
    throw wrongOption(name, given, "true or false");
}

/** A part of a whole: above 0, and at most 1. */
export function partOf(name: string, given: unknown, otherwise: number): number {
    if (given === undefined) return otherwise;
    if (typeof given === "number" && given > 0 && given <= 1) return given;
    throw wrongOption(name, given, "a fraction above 0, up to 1");
}

/** Statuses that can be named. */
export function statusesOf(name: string, given: unknown, otherwise: readonly number[]): readonly number[] {
    if (given === undefined) return otherwise;
    const accepted = "an array of statuses from 100 to 599: [429, 503]";
    if (!Array.isArray(given)) throw wrongOption(name, given, accepted);
    given.forEach((status: unknown, at) => {
        if (typeof status !== "number" || !Number.isInteger(status) || status < 100 || status > 599) throw wrongOption(`${name}[${at}]`, status, "a status from 100 to 599");
    });
    return given as readonly number[];
}
