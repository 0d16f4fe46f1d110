// JSON both ways: nothing gets into an object's prototype, and whole numbers that a double cannot hold may be bigint.
import * as crypto from "node:crypto";
import { TransportError } from "../error";

export interface JsonOptions {
    /** Whole numbers beyond 2^53 - 1 are read as bigint; bigint is written as a number either way. */
    readonly bigint: boolean;
}

/**
 * Reads JSON.
 *
 * Cost: `JSON.parse`; one walk more where a text may have a name that would poison, and one pass over the text for bigint.
 * @throws {TransportError} `response.body`, with the place and never the text
 */
export function parseJson(text: string, { bigint }: JsonOptions): unknown {
    let value: unknown;
    try {
        value = bigint ? parseBig(text) : (JSON.parse(text) as unknown);
    } catch (cause) {
        // V8's message quotes the text around the place, which may be anybody's data.
        const place = /position (\d+)/.exec((cause as Error).message)?.[1];
        throw new TransportError("response.body", `the body is no JSON${place === undefined ? "" : `, from position ${place} on`}`);
    }
    if (SUSPICIOUS.test(text)) refusePoison(value);
    return value;
}

/** Escapes may spell any name. */
const SUSPICIOUS = /__proto__|"constructor"|\\u/;

/** Own properties that become a prototype as soon as somebody copies them by assignment. */
function refusePoison(root: unknown): void {
    const left: unknown[] = [root];
    while (left.length > 0) {
        const value = left.pop();
        if (typeof value !== "object" || value === null) continue;
        if (!Array.isArray(value)) {
            if (Object.hasOwn(value, "__proto__")) throw poison("__proto__");
            const made = Object.hasOwn(value, "constructor") ? (value as { readonly constructor: unknown }).constructor : undefined;
            if (typeof made === "object" && made !== null && Object.hasOwn(made, "prototype")) throw poison("constructor.prototype");
        }
        for (const each of Object.values(value)) if (typeof each === "object" && each !== null) left.push(each);
    }
}

function poison(name: string): TransportError {
    return new TransportError("response.body", `the body has a member "${name}", which could change the prototype of all objects; read it as text, if it is wanted`);
}

/** Strings, which are stepped over, and numbers. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const WHOLE = /^-?[1-9]\d{15,}$/;

function parseBig(text: string): unknown {
    const mark = markNotIn(text);
    const marked = text.replace(TOKENS, (token) => {
        if (token.length < 16 || !WHOLE.test(token) || Number.isSafeInteger(Number(token))) return token;
        return `"${mark}${token}"`;
    });
    if (marked.length === text.length) return JSON.parse(text);
    return JSON.parse(marked, (_name, value: unknown) => (typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value));
}

/**
 * Writes JSON; undefined where JSON has nothing for the value.
 *
 * Cost: `JSON.stringify`; a second run of it, with a function called for each member, only where a bigint is.
 * @throws what `JSON.stringify` throws (a ring), and what a `toJSON` does
 */
export function writeJson(value: unknown): string | undefined {
    try {
        return JSON.stringify(value);
    } catch (error) {
        if (!(error instanceof TypeError) || !error.message.includes("BigInt")) throw error;
    }
    const without = JSON.stringify(value, (_name, each: unknown) => (typeof each === "bigint" ? 0 : each));
    const mark = markNotIn(without);
    const marked = JSON.stringify(value, (_name, each: unknown) => (typeof each === "bigint" ? `${mark}${each}` : each));
    return marked.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
}

let random: string | undefined;

/** Letters and digits, so that it is written as it is. A peer that spelled it with escapes would not be seen, so it cannot be guessed. */
function markNotIn(text: string): string {
    random ??= crypto.randomBytes(16).toString("hex");
    let mark = `big${random}n`;
    while (text.includes(mark)) mark += "n";
    return mark;
}
