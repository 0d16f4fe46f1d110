// Learns what is secret in calls, so that it is taken out of errors, logs and spans by its value, wherever it got to.
import { type Headers, type Request } from "../../middleware/message";
import { middleware, type Middleware } from "../../middleware/middleware";
import { slot } from "../../middleware/slot";
import { FormBody } from "../body/form";
import { call } from "../call";
import { wrongOption } from "../error";
import { objectOf } from "../given";
import { Secret, type Redactor } from "../secret";
import { callOf } from "./own_call";

/** What is secret, by name. Names are compared without regard to case, and those that are given stand beside the defaults. */
export interface RedactionOptions {
    /** Values that are secret wherever they stand; of 4 characters or more. */
    readonly values?: readonly (Secret | string)[];
    /** Headers of requests and responses. By default `authorization`, `proxy-authorization`, `cookie`, `set-cookie`, `x-api-key`, `api-key`, `x-auth-token`. */
    readonly headers?: readonly string[];
    /** Parameters of a query and of a form. By default those whose name is one of `password`, `token`, `api_key`, `signature` and their like. */
    readonly query?: readonly string[];
    /** Members of JSON, at any depth. By default the same names as those of a query. */
    readonly body?: readonly string[];
}

const HEADERS = ["authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "x-auth-token"];
const NAMES = [
    ...["password", "passwd", "passphrase", "pwd", "secret", "client_secret", "clientsecret", "token", "access_token", "accesstoken", "refresh_token"],
    ...["refreshtoken", "id_token", "api_key", "apikey", "api-key", "private_key", "privatekey", "credential", "credentials", "signature", "sig"],
    ...["x-amz-signature", "x-amz-security-token", "x-amz-credential", "x-goog-signature", "x-goog-credential", "awsaccesskeyid"],
];
/** Of a larger body only the beginning is looked through. */
const BODY_CHARS_MAX = 1024 * 1024;

/** The request as the caller gave it; what is inside may have encoded its body. */
const given = slot("redaction_given").of<Request>();

/**
 * Takes the values of headers, parameters and members of bodies that have telling names out of every error of the transport, out of
 * what `diagnostics` publishes and out of the spans of `openTelemetry`. Best listed first. Headers and queries are looked at in
 * each call, bodies only when a call fails.
 *
 * @throws {TransportError} `options.invalid`
 */
export function redaction(options: RedactionOptions = {}): Middleware<"call"> {
    const known = objectOf("redaction", options, ["values", "headers", "query", "body"]);
    const values = valuesOf(known["values"]);
    const headers = namesOf("redaction.headers", known["headers"], HEADERS);
    const query = new Set(namesOf("redaction.query", known["query"], NAMES));
    const body = membersOf(namesOf("redaction.body", known["body"], NAMES));
    return middleware({
        name: "redaction",
        scope: "call",
        reads: [call],
        writes: [given],
        onRequest(context) {
            const { request } = context;
            const { redactor } = callOf(context);
            for (const value of values) redactor.add(value);
            learnHeaders(redactor, request.headers, headers);
            learnQuery(redactor, request.path, query);
            return request.body === undefined ? undefined : { set: { redaction_given: request } };
        },
        onResponse(context) {
            learnHeaders(callOf(context).redactor, context.response.headers, headers);
            return undefined;
        },
        onError(context) {
            const { redactor } = callOf(context);
            const { request } = context;
            learnHeaders(redactor, request.headers, headers);
            learnQuery(redactor, request.path, query);
            for (const each of [context.get(given), request]) if (each !== undefined) learnBody(redactor, each, body, query);
            return undefined;
        },
    });
}

function learnHeaders(redactor: Redactor, headers: Headers, names: readonly string[]): void {
    for (const name of names) {
        if (!Object.hasOwn(headers, name)) continue;
        const value = headers[name];
        for (const each of typeof value === "string" ? [value] : (value ?? [])) learnHeader(redactor, name, each);
    }
}

function learnHeader(redactor: Redactor, name: string, value: string): void {
    redactor.add(value);
    if (name === "set-cookie") redactor.add(valueOfPair(value.split(";", 1)[0] as string));
    else if (name === "cookie") for (const pair of value.split(";")) redactor.add(valueOfPair(pair));
    // Credentials stand behind the name of their scheme (RFC 9110 section 11.4).
    else redactor.add(value.slice(value.indexOf(" ") + 1));
}

function valueOfPair(pair: string): string {
    return pair.slice(pair.indexOf("=") + 1).trim();
}

function learnQuery(redactor: Redactor, path: string, names: ReadonlySet<string>): void {
    const at = path.indexOf("?");
    if (at !== -1) learnForm(redactor, path.slice(at + 1), names);
}

function learnForm(redactor: Redactor, form: string, names: ReadonlySet<string>): void {
    for (const pair of form.split("&")) {
        const raw = valueOfPair(pair);
        for (const [name, value] of new URLSearchParams(pair)) {
            if (!names.has(name.toLowerCase())) continue;
            redactor.add(raw);
            redactor.add(value);
        }
    }
}

function learnTexts(redactor: Redactor, texts: readonly (readonly [name: string, value: string])[], names: ReadonlySet<string>): void {
    for (const [name, value] of texts) if (names.has(name.toLowerCase())) redactor.add(value);
}

/** A field of a form that is a text. */
const FIELD = /form-data; name="([^"\r\n]*)"\r\n\r\n([^]*?)\r\n--/g;

function learnBody(redactor: Redactor, { body, headers }: Request, members: RegExp, names: ReadonlySet<string>): void {
    let text: string;
    if (typeof body === "string") text = body.slice(0, BODY_CHARS_MAX);
    else if (body instanceof Uint8Array) text = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, BODY_CHARS_MAX)).toString();
    else {
        if (body instanceof FormBody) learnTexts(redactor, body.texts, names);
        return;
    }
    const type = headers["content-type"];
    if (typeof type === "string" && type.startsWith("application/x-www-form-urlencoded")) learnForm(redactor, text, names);
    if (typeof type === "string" && type.startsWith("multipart/form-data")) learnTexts(redactor, [...text.matchAll(FIELD)].map(([, name = "", value = ""]) => [name, value]), names);
    for (const [, value = ""] of text.matchAll(members)) {
        redactor.add(value);
        try {
            redactor.add(JSON.parse(`"${value}"`) as string);
        } catch {
            // It is no JSON after all; its text is learnt.
        }
    }
}

/** Members of these names that are texts. */
function membersOf(names: readonly string[]): RegExp {
    const escaped = names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`"(?:${escaped.join("|")})"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)"`, "gi");
}

function valuesOf(values: unknown): readonly (Secret | string)[] {
    if (values === undefined) return [];
    if (!Array.isArray(values)) throw wrongOption("redaction.values", values, 'an array of secrets: [secret("…")]');
    return values.map((value: unknown, at) => {
        if (value instanceof Secret || (typeof value === "string" && value.length >= 4)) return value;
        throw wrongOption(`redaction.values[${at}]`, value, 'secret("…"), or a text of 4 characters or more: shorter ones stand in too many texts by chance');
    });
}

function namesOf(where: string, names: unknown, defaults: readonly string[]): readonly string[] {
    if (names === undefined) return defaults;
    if (!Array.isArray(names)) throw wrongOption(where, names, 'an array of names: ["password"]');
    const added = names.map((name: unknown, at) => {
        if (typeof name !== "string" || name === "") throw wrongOption(`${where}[${at}]`, name, "a name");
        return name.toLowerCase();
    });
    return [...new Set([...defaults, ...added])];
}
