// Credentials as they are given.
import { wrongOption } from "../error";
import { durationOf, objectOf } from "../given";
import { reveal, Secret } from "../secret";

/** A token that came. */
export interface Token {
    readonly token: Secret | string;
    /** From now on, in milliseconds; it is renewed a little before. Default: until the peer refuses it. */
    readonly expiresInMs?: number;
}

/** What a function that gets tokens is told. */
export interface TokenRequest {
    /** Aborts when getting it takes longer than `tokenTimeoutMs`. */
    readonly signal: AbortSignal;
    /** The token that the peer refused; undefined for the first, and for one that ran out. */
    readonly refused: string | undefined;
}

/** Gets a token. Called for all calls that wait for it at once, and not again before it is done. */
export type TokenSource = (request: TokenRequest) => Promise<Token | Secret | string> | Token | Secret | string;

/** One kind of credentials. */
export interface AuthOptions {
    /** `authorization: Basic …` (RFC 7617). */
    readonly basic?: { readonly username: string; readonly password: Secret | string };
    /** `authorization: Bearer …` (RFC 6750): a token, or a function that gets one. */
    readonly bearer?: Secret | string | TokenSource;
    /** `authorization: ApiKey …`: a key, or a function that gets one. */
    readonly apiKey?: Secret | string | TokenSource;
    /** Sends the API key alone in this header, in lower case, as in "x-api-key". */
    readonly header?: string;
    /** How long getting a token may take, whoever waits for it. Default: 10,000 ms. */
    readonly tokenTimeoutMs?: number;
    /** A new token that is refused at once is not renewed again for so long. Default: 1,000 ms. */
    readonly renewPauseMs?: number;
}

/** Credentials that stay. */
export interface Fixed {
    readonly kind: "fixed";
    readonly header: Lowercase<string>;
    readonly value: string;
    readonly secrets: readonly string[];
}

/** Credentials that a function gets. */
export interface Sourced {
    readonly kind: "sourced";
    readonly header: Lowercase<string>;
    readonly scheme: string;
    readonly source: TokenSource;
    readonly timeoutMs: number;
    readonly renewPauseMs: number;
}

const TOKEN_TIMEOUT_MS = 10_000;
const RENEW_PAUSE_MS = 1000;
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const KNOWN = ["basic", "bearer", "apiKey", "header", "tokenTimeoutMs", "renewPauseMs"];

/**
 * Reads options.
 * @throws {TransportError} `options.invalid`, never with a credential in it
 */
export function authSettingsOf(options: unknown): Fixed | Sourced {
    const given = objectOf("auth", options, KNOWN);
    const kinds = ["basic", "bearer", "apiKey"].filter((kind) => given[kind] !== undefined);
    const [kind] = kinds;
    if (kind === undefined || kinds.length > 1) throw wrongOption("auth", options, `one of basic, bearer and apiKey, and ${kind === undefined ? "has none" : `has ${kinds.join(" and ")}`}`);
    const header = headerOf(kind, given["header"]);
    if (kind === "basic") return basicOf(given["basic"]);
    const scheme = header !== "authorization" ? "" : kind === "bearer" ? "Bearer" : "ApiKey";
    const credential = given[kind];
    if (typeof credential === "function") {
        return {
            kind: "sourced",
            header,
            scheme,
            source: credential as TokenSource,
            timeoutMs: durationOf("auth.tokenTimeoutMs", given["tokenTimeoutMs"], TOKEN_TIMEOUT_MS),
            renewPauseMs: durationOf("auth.renewPauseMs", given["renewPauseMs"], RENEW_PAUSE_MS),
        };
    }
    const value = credentialOf(credential);
    if (value === undefined) throw wrongOption(`auth.${kind}`, credential, `a text or secret("…") without spaces at its ends and line breaks, or a function that gets one`);
    return { kind: "fixed", header, value: scheme === "" ? value : `${scheme} ${value}`, secrets: [value] };
}

/** A credential that can stand in a header (RFC 9110 section 5.5); undefined for anything else. */
export function credentialOf(given: unknown): string | undefined {
    if (typeof given !== "string" && !(given instanceof Secret)) return undefined;
    const value = reveal(given);
    return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) ? value : undefined;
}

function basicOf(given: unknown): Fixed {
    const { username, password } = objectOf("auth.basic", given, ["username", "password"]);
    // RFC 7617 section 2 forbids them.
    if (typeof username !== "string" || /[:\u0000-\u001f\u007f]/.test(username)) throw wrongOption("auth.basic.username", username, "a text without a colon and control characters");
    if (typeof password !== "string" && !(password instanceof Secret)) throw wrongOption("auth.basic.password", password, 'a text, or secret("…")');
    const revealed = reveal(password);
    const encoded = Buffer.from(`${username}:${revealed}`).toString("base64");
    return { kind: "fixed", header: "authorization", value: `Basic ${encoded}`, secrets: [revealed, encoded] };
}

function headerOf(kind: string, given: unknown): Lowercase<string> {
    if (given === undefined) return "authorization";
    if (kind !== "apiKey") throw wrongOption("auth.header", given, "nothing beside basic and bearer, which are sent in authorization");
    if (typeof given !== "string" || !NAME.test(given)) throw wrongOption("auth.header", given, 'the name of a header in lower case: "x-api-key"');
    return given as Lowercase<string>;
}
