// `fetch` by a transport: for programs and libraries that take a function like it.
import { Readable } from "node:stream";
import { type BodyGiven } from "../body/encode";
import { TransportError, wrongRequest } from "../error";
import { type Transport, type TransportResponse } from "../transport";

/** How it is made. */
export interface FetchOptions {
    /** How many redirects are followed, the most. Default: 20, as in the Fetch standard. */
    readonly redirectsMax?: number;
}

type Fetch = typeof globalThis.fetch;
type Given = string | URL | globalThis.Request;

const REDIRECTS_MAX = 20;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Responses of these have no body (Fetch standard, "null body status"). */
const NO_BODY: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);
/** Fields that tell of a body which is not sent again. */
const OF_BODY = ["content-encoding", "content-language", "content-location", "content-type", "content-length"];

/**
 * A function like `fetch`, whose calls go to the transport's nodes and through its middleware. It takes a path, or a URL whose origin
 * is that of a node; with several nodes any of them gets it. Redirects are followed among them.
 *
 * It fails as `fetch` does: with the signal's reason, or with a `TypeError` whose `cause` is the `TransportError`. A text, bytes,
 * `URLSearchParams`, `FormData` and a `Blob` can be sent again by a retry; streams and the body of a `Request` cannot. Not there:
 * `integrity`, and what only browsers do (`mode`, `credentials`, `cache`, `referrer`).
 */
export function fetchBy(transport: Pick<Transport, "request" | "nodes">, { redirectsMax = REDIRECTS_MAX }: FetchOptions = {}): Fetch {
    return async (input, init) => {
        try {
            return await fetched(transport, input, init, redirectsMax);
        } catch (error) {
            if (!(error instanceof TransportError)) throw error;
            throw error.code === "call.aborted" ? error.cause : new TypeError("fetch failed", { cause: error });
        }
    };
}

async function fetched(transport: Pick<Transport, "request" | "nodes">, input: Given, init: RequestInit | undefined, redirectsMax: number): Promise<globalThis.Response> {
    if (init?.integrity !== undefined && init.integrity !== "") throw wrongRequest("integrity", init.integrity, "nothing: hashes of bodies are not checked");
    const origins = transport.nodes().map(({ origin }) => origin);
    const given = input instanceof globalThis.Request ? input : new URL(input, origins[0]);
    // The platform's own class reads what was given, and refuses what it must.
    const request = new globalThis.Request(given, init);
    const signal = init?.signal ?? (given instanceof URL ? undefined : given.signal);
    const headers = new Headers(request.headers);
    // The platform's has its own boundary, and the form is written by the transport.
    if (init?.body instanceof FormData && headers.get("content-type")?.startsWith("multipart/form-data") === true) headers.delete("content-type");
    let method = request.method;
    let body = bodyOf(request, init);
    let url = new URL(request.url);
    for (let redirects = 0; ; redirects++) {
        if (!origins.includes(url.origin)) throw wrongRequest("the URL", url.href, `a path, or the origin of a node: ${origins.join(", ")}`);
        const response = await transport.request<Readable>({ method, path: url.pathname + url.search, headers: Object.fromEntries(headers), body, as: "stream", signal });
        const location = response.headers["location"];
        if (request.redirect === "manual" || !REDIRECTS.has(response.status) || typeof location !== "string") return responseOf(response, method, url, redirects > 0);
        response.body.destroy();
        if (request.redirect === "error") throw new TransportError("response.status", `${response.status} leads elsewhere, and redirect is "error"`);
        if (redirects === redirectsMax) throw new TransportError("response.status", `more than ${redirectsMax} redirects`);
        url = new URL(location, url);
        if (becomesGet(response.status, method)) {
            method = "GET";
            body = undefined;
            for (const name of OF_BODY) headers.delete(name);
        } else if (body instanceof ReadableStream) {
            throw new TransportError("request.body_used", `${response.status} asks for the body again, which is a stream and gone`);
        }
    }
}

/** Bodies that stay as they are can be sent again; the rest is read once, through the platform's own encoding. */
function bodyOf(request: globalThis.Request, init: RequestInit | undefined): BodyGiven | undefined {
    const given = init?.body;
    if (typeof given === "string" || given instanceof Uint8Array || given instanceof ArrayBuffer || given instanceof URLSearchParams || given instanceof FormData || given instanceof Blob) return given;
    return request.body ?? undefined;
}

/** Fetch standard, "HTTP-redirect fetch", step 12. */
function becomesGet(status: number, method: string): boolean {
    return (status === 303 && method !== "GET" && method !== "HEAD") || ((status === 301 || status === 302) && method === "POST");
}

function responseOf({ status, headers, body }: TransportResponse<Readable>, method: string, url: URL, redirected: boolean): globalThis.Response {
    const own = new Headers();
    for (const [name, value] of Object.entries(headers)) for (const each of typeof value === "object" ? value : [value ?? ""]) own.append(name, each);
    const isEmpty = NO_BODY.has(status) || method === "HEAD";
    if (isEmpty) body.destroy();
    const response = new globalThis.Response(isEmpty ? null : (Readable.toWeb(body) as ReadableStream), { status, headers: own });
    // Its constructor sets them for whoever fetches only.
    Object.defineProperties(response, { url: { value: url.href }, redirected: { value: redirected } });
    return response;
}
