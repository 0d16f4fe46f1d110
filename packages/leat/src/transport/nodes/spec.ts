// A node as it is given: an origin and its weight.
import { wrongOption } from "../error";

/** An origin that calls may go to. */
export interface NodeOptions {
    /** `http://host:port` or `https://host:port`, perhaps with a path that goes before that of each call. */
    readonly url: string | URL;
    /** Its share of the calls, beside those of the others: a whole number from 1 to 65,535. Default: 1. */
    readonly weight?: number;
}
export type NodeGiven = string | URL | NodeOptions;

/** A node, checked. */
export interface NodeSpec {
    /** Scheme, host and port, in their one form. */
    readonly origin: string;
    /** What goes before each path: "" or "/prefix". */
    readonly prefix: string;
    readonly weight: number;
}

const WEIGHT_MAX = 65_535;
const FORM = 'an origin: "http://127.0.0.1:9200", or { url, weight }';

/**
 * Reads a node.
 * @throws {TransportError} `options.invalid`
 */
export function nodeOf(name: string, given: unknown): NodeSpec {
    const isPlain = typeof given === "string" || given instanceof URL;
    if (!isPlain && (typeof given !== "object" || given === null)) throw wrongOption(name, given, FORM);
    const { url, weight = 1 } = isPlain ? { url: given } : (given as Partial<NodeOptions>);
    if (!Number.isInteger(weight) || weight < 1 || weight > WEIGHT_MAX) throw wrongOption(`${name}.weight`, weight, `a whole number from 1 to ${WEIGHT_MAX}`);
    let parsed: URL;
    try {
        parsed = new URL(url as string);
    } catch {
        throw wrongOption(name, url, FORM);
    }
    if (parsed.protocol !== "http:" && parsed.protocol !== "https:") throw wrongOption(name, url, "the schemes http: and https:");
    // What stands in a URL is shown in messages, so no credentials may.
    if (parsed.username !== "" || parsed.password !== "") throw wrongOption(name, url, "an origin without a user and a password; give those to the middleware auth");
    if (parsed.search !== "" || parsed.hash !== "") throw wrongOption(name, url, "an origin without query and fragment");
    return { origin: parsed.origin, prefix: parsed.pathname.replace(/\/+$/, ""), weight };
}
