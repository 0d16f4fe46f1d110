// One call as its caller writes it, checked before anything is sent.
import { type Signal } from "../middleware/context";
import { type Headers, type HeaderValue, type Request } from "../middleware/message";
import { type Slot, type SlotPatch } from "../middleware/slot";
import { type BodyGiven, encode } from "./body/encode";
import { type Form, FORMS } from "./body/decode";
import { type CallOptions } from "./call";
import { wrongRequest } from "./error";
import { type Query, withQuery } from "./query";
import { type Redactor, reveal, Secret } from "./secret";

/** What `request` takes. */
export interface RequestOptions<S extends Slot = never> extends CallOptions {
    /** Default: GET. */
    readonly method?: string | undefined;
    /** Begins with "/", encoded as it goes to the wire; perhaps with a query. */
    readonly path: string;
    /** Put after the path. It is only read. */
    readonly querystring?: Query | undefined;
    /** Names in any case; a secret is sent and never shown. `undefined` leaves out, also what the transport's `headers` have. */
    readonly headers?: Readonly<Record<string, string | number | Secret | readonly string[] | undefined>> | undefined;
    /** See `BodyGiven`; its type becomes `content-type`, if the headers have none. */
    readonly body?: BodyGiven | null | undefined;
    /** How the response's body is read. Default: `auto`. */
    readonly as?: Form | undefined;
    /** Ends the call at once, wherever it is. It is never aborted from here, and no listener stays at it. */
    readonly signal?: Signal | undefined;
    /** In place of the transport's. */
    readonly timeoutMs?: number | undefined;
    /** In place of the transport's. */
    readonly tryTimeoutMs?: number | undefined;
    /** Slots that the transport `provides`. */
    readonly set?: SlotPatch<S>;
}

const KNOWN: ReadonlySet<string> = new Set([
    ...["method", "path", "querystring", "headers", "body", "as", "signal", "timeoutMs", "tryTimeoutMs", "set"],
    ...["idempotent", "retriesMax", "retryOnTimeout", "route", "meta"],
]);
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What may stand in a path on the wire: no spaces, controls, "#", or letters that have to be encoded. */
const PATH = /^\/[\x21\x22\x24-\x7e]*$/;
/** RFC 9110 section 5.5, without obs-fold; beyond ASCII Latin-1 only. */
const VALUE_NOT = /[^\t\x20-\x7e\x80-\xff]/;
/** Set by the connection: a second one would contradict it. */
const NOT_OURS: ReadonlySet<string> = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "te", "expect"]);

/**
 * Reads a call.
 * @throws {TransportError} `request.invalid`
 */
export function requestOf(given: RequestOptions<Slot>, base: Headers | undefined, redactor: Redactor): Request {
    if (typeof given !== "object" || (given as unknown) === null) throw wrongRequest("request", given, 'an object: request({ method: "GET", path: "/" })');
    // What was put on Object.prototype is nobody's option.
    for (const key in given) if (!KNOWN.has(key) && Object.hasOwn(given, key)) throw wrongRequest("request", given, `${[...KNOWN].join(", ")}, and no "${key}"`);
    const { method = "GET", path, querystring } = given;
    if (method !== "GET" && (typeof method !== "string" || !TOKEN.test(method) || method === "CONNECT")) throw wrongRequest("method", method, 'a method: "GET", "POST" …; there are no tunnels');
    const whole = typeof path === "string" && querystring !== undefined ? withQuery(path, querystring, redactor) : path;
    if (typeof whole !== "string" || !PATH.test(whole)) throw wrongRequest("path", path, 'a path that begins with "/" and is encoded: `/users/${encodeURIComponent(name)}`');
    const { body, type } = given.body === undefined ? NO_BODY : encode(given.body, redactor);
    return { method, path: whole, headers: headersOf(given.headers, base, type, redactor), body };
}

const NO_BODY = { body: undefined, type: undefined };
const NO_HEADERS: Headers = Object.freeze({});

function headersOf(given: RequestOptions["headers"], base: Headers | undefined, type: string | undefined, redactor: Redactor): Headers {
    if (given === undefined) {
        if (type === undefined || base?.["content-type"] !== undefined) return base ?? NO_HEADERS;
        return typed(base ?? NO_HEADERS, type);
    }
    if (typeof given !== "object" || (given as unknown) === null || Array.isArray(given)) throw wrongRequest("headers", given, 'an object: { "x-request-id": "1" }');
    const headers: Record<string, HeaderValue> = {};
    if (type !== undefined) headers["content-type"] = type;
    if (base !== undefined) Object.assign(headers, base);
    const names = new Set<string>();
    for (const name of Object.keys(given)) {
        const lower = nameOf(`headers["${name.slice(0, 60)}"]`, name);
        if (names.has(lower)) throw wrongRequest("headers", given, `each name once; "${lower}" stands in two spellings`);
        names.add(lower);
        const value = given[name];
        if (value === undefined) Reflect.deleteProperty(headers, lower);
        else headers[lower] = valueOf(`headers["${lower}"]`, value, redactor);
    }
    return headers;
}

/** The few types that texts of ours have; a form's has its boundary in it, and is no other's. */
const TYPES_MAX = 4;
const TYPE_LENGTH_MAX = 40;
const typedOf = new WeakMap<Headers, Map<string, Headers>>();

/** `base` with a type: one object for all calls, so that what is merged into it is merged once. */
function typed(base: Headers, type: string): Headers {
    let known = typedOf.get(base);
    const found = known?.get(type);
    if (found !== undefined) return found;
    const headers = Object.freeze({ ...base, "content-type": type });
    if (type.length > TYPE_LENGTH_MAX) return headers;
    if (known === undefined) typedOf.set(base, (known = new Map<string, Headers>()));
    if (known.size < TYPES_MAX) known.set(type, headers);
    return headers;
}

/** A header's name in lower case. */
export function nameOf(where: string, name: string): string {
    const lower = name.toLowerCase();
    if (!TOKEN.test(name) || lower === "__proto__") throw wrongRequest(where, name, "a name of letters, digits and -");
    if (NOT_OURS.has(lower)) throw wrongRequest(where, name, "no headers of one connection, which the connection sets itself");
    return lower;
}

/** A header's value as text. */
export function valueOf(where: string, value: unknown, redactor: Redactor): HeaderValue {
    if (Array.isArray(value)) return value.map((each: unknown) => valueOf(where, each, redactor) as string);
    if (value instanceof Secret) redactor.add(value);
    const text = typeof value === "number" ? String(value) : value instanceof Secret ? reveal(value) : value;
    if (typeof text !== "string" || VALUE_NOT.test(text)) throw wrongRequest(where, value, "text in Latin-1 without line ends and controls, a number, a secret, or an array of texts");
    return text;
}

/** How the body is wanted. */
export function formOf(as: unknown): Form {
    if (as === undefined) return "auto";
    if ((FORMS as readonly unknown[]).includes(as)) return as as Form;
    throw wrongRequest("as", as, `one of ${FORMS.join(", ")}`);
}

/** A call's own time in place of the transport's. */
export function timeOf(name: string, given: unknown, otherwise: number): number {
    if (given === undefined) return otherwise;
    if (typeof given === "number" && given > 0) return given;
    throw wrongRequest(name, given, "milliseconds above 0, or Infinity");
}

/** What a call says to middleware that is not there would be silently ignored. */
export function checkAddressees(given: CallOptions, names: ReadonlySet<string>): void {
    if (names.has("retry")) return;
    if (given.retriesMax !== undefined) throw wrongRequest("retriesMax", given.retriesMax, "the middleware retry to be among the transport's");
    if (given.retryOnTimeout !== undefined) throw wrongRequest("retryOnTimeout", given.retryOnTimeout, "the middleware retry to be among the transport's");
}
