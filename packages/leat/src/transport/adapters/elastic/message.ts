// Requests and responses by the rules of @elastic/transport: its types, its serializer, its form of HEAD.
import { type ElasticOptions, type ElasticParams, type ElasticRequestOptions, type ElasticSerializer, isStream } from "./library";

/** What is sent. */
export interface Written {
    readonly path: string;
    readonly querystring: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

/** The library's defaults for servers that are not named. */
const JSON_TYPE = "application/json";
const NDJSON_TYPE = "application/x-ndjson";
const ACCEPT = "application/json, text/plain";
/** Types of bodies that are no text. */
const BINARY = /^application\/(vnd\.mapbox-vector-tile|vnd\.apache\.arrow\.stream|vnd\.elasticsearch\+arrow\+stream|smile|vnd\.elasticsearch\+smile|cbor|vnd\.elasticsearch\+cbor)/;

/** Writes a request. What the caller gave stays as it was: the library's serializer writes into what it is given. */
export function written(params: ElasticParams, options: ElasticRequestOptions, settings: ElasticOptions, serializer: ElasticSerializer): Written {
    const headers: Record<string, string> = {};
    add(headers, settings.headers);
    add(headers, options.headers);
    if (options.opaqueId !== undefined) headers["x-opaque-id"] = `${settings.opaqueIdPrefix ?? ""}${options.opaqueId}`;
    const { jsonContentType = JSON_TYPE, ndjsonContentType = NDJSON_TYPE, accept = ACCEPT } = settings.vendoredHeaders ?? {};
    const given = params.body ?? params.bulkBody;
    const body = given === undefined || given === null ? undefined : textOf(given, params.body === undefined || params.body === null, serializer);
    if (body !== undefined && body !== "") {
        const isBulk = params.body === undefined || params.body === null;
        const isText = !isBulk && (typeof given === "string" || isStream(given) || given instanceof Uint8Array);
        headers["content-type"] ??= isBulk ? ndjsonContentType : isText ? "text/plain" : jsonContentType;
        headers["accept"] ??= isText ? accept : jsonContentType;
    }
    headers["accept"] ??= accept;
    headers["content-type"] ??= jsonContentType;
    const query = options.querystring === undefined && typeof params.querystring === "string" ? params.querystring : { ...(params.querystring as object | undefined), ...options.querystring };
    return { path: params.path, querystring: serializer.qserialize(query), headers, body: body === "" ? undefined : body };
}

function textOf(given: unknown, isBulk: boolean, serializer: ElasticSerializer): string | Uint8Array | AsyncIterable<Uint8Array> {
    if (typeof given === "string" || given instanceof Uint8Array) return given;
    if (isStream(given)) return given;
    return isBulk ? serializer.ndserialize(given) : serializer.serialize(given);
}

function add(headers: Record<string, string>, more: Readonly<Record<string, unknown>> | undefined): void {
    for (const [name, value] of Object.entries(more ?? {})) {
        if (typeof value === "string" || typeof value === "number") headers[name.toLowerCase()] = String(value);
        else if (Array.isArray(value)) headers[name.toLowerCase()] = value.join(", ");
    }
}

/** Reads a response's body. */
export function read(method: string, status: number, headers: Readonly<Record<string, unknown>>, bytes: Buffer, serializer: ElasticSerializer): unknown {
    if (method === "HEAD") return status < 400;
    const type = typeof headers["content-type"] === "string" ? headers["content-type"] : "";
    if (BINARY.test(type)) return bytes;
    const text = bytes.toString();
    return text !== "" && (type.includes("application/json") || type.includes("application/vnd.elasticsearch+json")) ? serializer.deserialize(text) : text;
}

/** Warnings of Elasticsearch's, one an element; null if there are none. */
export function warningsOf(headers: Readonly<Record<string, unknown>>): readonly string[] | null {
    const { warning } = headers;
    if (warning === undefined || warning === null) return null;
    const all: readonly unknown[] = Array.isArray(warning) ? warning : [warning];
    return all.flatMap((each) => String(each).split(/(?!\B"[^"]*),(?![^"]*"\B)/)).filter((each) => /^\d\d\d Elasticsearch-/.test(each));
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds of a number or a text such as "30s"; undefined for none. */
export function timeOf(given: number | string | null | undefined): number | undefined {
    if (given === null || given === undefined) return undefined;
    if (typeof given === "number") return given;
    const [, number, unit = "ms"] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(given.trim()) ?? [];
    return number === undefined ? Number.NaN : Number(number) * (UNITS[unit] ?? 1);
}
