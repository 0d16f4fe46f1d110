// Conditional merging: a patch copies what it changes, and one that changes nothing copies nothing.
import { MiddlewareError } from "./error";
import { type HeaderPatch, type Headers, type HeaderValue, type Request, type RequestChange, type Response, type ResponseChange } from "./message";
import { isOwn } from "./own";

/**
 * The method of a message of a host's own that knows a cheaper way to be patched than a copy of all its headers. It gives the message
 * itself if nothing changes, and refuses what `checkName` refuses.
 */
const patched: unique symbol = Symbol("leat.patched");
// By itself, so that this file reads it as a constant, and not as a member of what it exports.
export { patched };

interface Patching<M, C> {
    readonly [patched]?: (change: C) => M;
}

/** Whether a message is a host's own, with a method under `patched`. */
export function isPatching(message: Request): boolean {
    return (message as Request & Patching<Request, RequestChange>)[patched] !== undefined;
}

/**
 * `headers` with `patch` merged in.
 *
 * Cost: the same object if nothing changes; else one copy of the headers, and one more for each that is deleted.
 * @throws {MiddlewareError} `header.name`
 */
export function patchHeaders(headers: Headers, patch: HeaderPatch): Headers {
    let merged = headers;
    let copy: Record<string, HeaderValue | undefined> | undefined;
    for (const name in patch) {
        // What was put on Object.prototype must not become a header.
        if (!isOwn(patch, name)) continue;
        const value = patch[name as Lowercase<string>];
        if (value === undefined) continue;
        checkName(name);
        // Not asked first whether it is its own: only what would change nothing has to be sure of that.
        const before = merged[name];
        if (value === null) {
            if (before === undefined || !Object.hasOwn(merged, name)) continue;
            merged = copy = without(merged, name);
        } else if (!isSame(before, value) || !Object.hasOwn(merged, name)) {
            if (copy === undefined) merged = copy = copied(headers);
            copy[name] = value;
        }
    }
    return merged;
}

/**
 * The same, on a request and headers that nobody else has: they are written to.
 *
 * Cost: none; one copy for each header that is deleted.
 * @throws {MiddlewareError} `header.name`, with nothing written
 */
export function writeHeaders(request: Request, patch: HeaderPatch): void {
    let only = "";
    let count = 0;
    for (const name in patch) {
        if (!isOwn(patch, name) || patch[name as Lowercase<string>] === undefined) continue;
        checkName(name);
        only = name;
        count++;
    }
    // Most patches have one header, which is not looked for again.
    if (count === 1) {
        writeHeader(request, only, patch[only as Lowercase<string>] as HeaderValue | null);
        return;
    }
    for (const name in patch) {
        if (!isOwn(patch, name)) continue;
        const value = patch[name as Lowercase<string>];
        if (value !== undefined) writeHeader(request, name, value);
    }
}

function writeHeader(request: Request, name: string, value: HeaderValue | null): void {
    const headers = request.headers as Record<string, HeaderValue | undefined>;
    if (value !== null) headers[name] = value;
    else if (isOwn(headers, name)) (request as { headers: Headers }).headers = without(headers, name);
}

/**
 * One copy, to be added to. V8 before 11.7 (Node.js 20) makes a new hidden class each time that a property is added to the spread copy
 * of an ordinary object: 700 to 900 ns in place of 100. From then on spreading is the fastest. `Object.groupBy` came with that version.
 */
const copied: (headers: Headers) => Record<string, HeaderValue | undefined> = "groupBy" in Object ? (headers) => ({ ...headers }) : (headers) => Object.assign({}, headers);

/**
 * `request` with `change` merged in.
 *
 * Cost: the same object if nothing changes; else one object, and what `patchHeaders` takes.
 * @throws {MiddlewareError} `header.name`
 */
export function patchRequest(request: Request, change: RequestChange): Request {
    const own = (request as Request & Patching<Request, RequestChange>)[patched];
    if (own !== undefined) return own.call(request, change);
    const method = change.method ?? request.method;
    const path = change.path ?? request.path;
    const headers = change.headers === undefined ? request.headers : patchHeaders(request.headers, change.headers);
    const body = bodyOf(request.body, change.body);
    if (method === request.method && path === request.path && headers === request.headers && body === request.body) return request;
    const changed = { method, path, headers, body };
    for (const key in request) if (key !== "method" && key !== "path" && key !== "headers" && key !== "body") carry(request, changed, key);
    return changed;
}

/** `request`, which is no host's own message, with other headers. */
export function withHeaders(request: Request, headers: Headers): Request {
    const changed = { method: request.method, path: request.path, headers, body: request.body };
    for (const key in request) if (key !== "method" && key !== "path" && key !== "headers" && key !== "body") carry(request, changed, key);
    return changed;
}

/**
 * `response` with `change` merged in.
 *
 * Cost: the same object if nothing changes; else one object, and what `patchHeaders` takes.
 * @throws {MiddlewareError} `header.name`
 */
export function patchResponse(response: Response, change: ResponseChange): Response {
    const own = (response as Response & Patching<Response, ResponseChange>)[patched];
    if (own !== undefined) return own.call(response, change);
    const status = change.status ?? response.status;
    const headers = change.headers === undefined ? response.headers : patchHeaders(response.headers, change.headers);
    const body = bodyOf(response.body, change.body);
    if (status === response.status && headers === response.headers && body === response.body) return response;
    const changed = { status, headers, body };
    for (const key in response) if (key !== "status" && key !== "headers" && key !== "body") carry(response, changed, key);
    return changed;
}

/** What else a host keeps in its messages goes along. Spreading them would do it too, at twice the cost of a message without. */
function carry(from: object, to: object, key: string): void {
    if (Object.hasOwn(from, key)) Object.defineProperty(to, key, { value: (from as Readonly<Record<string, unknown>>)[key], writable: true, enumerable: true, configurable: true });
}

function bodyOf(before: unknown, change: unknown): unknown {
    if (change === undefined) return before;
    return change ?? undefined;
}

/** Whether a patch with `value` would change nothing. */
export function isSame(before: HeaderValue | undefined, value: HeaderValue): boolean {
    if (before === value) return true;
    if (typeof before !== "object" || typeof value !== "object" || before.length !== value.length) return false;
    return before.every((each, at) => each === value[at]);
}

/** `delete` on a copy would leave an object that is slow to read from then on. */
function without(headers: Headers, name: string): Record<string, HeaderValue | undefined> {
    const copy: Record<string, HeaderValue | undefined> = {};
    for (const each in headers) if (each !== name && Object.hasOwn(headers, each)) copy[each] = headers[each];
    return copy;
}

const UPPER_A = 65;
const UPPER_Z = 90;

/**
 * One way to write a name, so that no header can stand twice; read by code units, which makes no string.
 * @throws {MiddlewareError} `header.name`
 */
export function checkName(name: string): void {
    for (let at = 0; at < name.length; at++) {
        const unit = name.charCodeAt(at);
        if (unit >= UPPER_A && unit <= UPPER_Z) throw new MiddlewareError("header.name", `the header "${name}" is written in lower case: "${name.toLowerCase()}"`);
    }
    // As a property it would be the object's prototype.
    if (name === "" || name === "__proto__") throw new MiddlewareError("header.name", `"${name}" is no header that can be set; take another name`);
}
