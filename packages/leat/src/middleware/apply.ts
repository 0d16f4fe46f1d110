// What hooks return, applied to the record.
import { MiddlewareError } from "./error";
import { type Layer } from "./layer";
import { type HeaderPatch, type Headers, type Response } from "./message";
import { type ErrorPatch, type HookCode, type RequestPatch, type ResponsePatch } from "./middleware";
import { isPatching, patchHeaders, patchRequest, patchResponse, withHeaders, writeHeaders } from "./patch";
import { frozen, type Record } from "./record";
import { type Slot } from "./slot";

const REQUEST_KEYS = ["method", "path", "headers", "body", "set", "respond"];
const NEXT_KEYS = ["method", "path", "headers", "body", "set"];
const RESPONSE_KEYS = ["status", "headers", "body", "set"];
const ERROR_KEYS = ["set", "respond"];

/** Calls a hook; in development mode, what it reads while it runs is looked at. */
export function call(record: Record, layer: Layer, hook: HookCode): unknown {
    if (!record.frame.development) return hook.call(layer.owner, record.view);
    const before = record.running;
    record.running = layer;
    try {
        return hook.call(layer.owner, record.view);
    } finally {
        record.running = before;
    }
}

/** Whether a run is for an `around`, which says so itself. */
export function isWanted(record: Record, layer: Layer, when: HookCode): boolean {
    const result = call(record, layer, when);
    if (typeof result !== "boolean") throw kind(layer, "when", result, "true or false, at once");
    return result;
}

/** Whether `again` asked for another try. */
export function isAgain(layer: Layer, result: unknown): boolean {
    if (result !== undefined && result !== true) throw kind(layer, "again", result, "nothing, or true for another try");
    return result === true;
}

/** Whether to wait for it. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
    return typeof value === "object" && value !== null && typeof (value as { readonly then?: unknown }).then === "function";
}

/** What `onRequest` returned; with `respond` the response. */
export function applyToRequest(record: Record, layer: Layer, result: unknown): Response | undefined {
    const patch: RequestPatch<Slot> | undefined = patchOf(record, layer, "onRequest", result, REQUEST_KEYS);
    if (patch === undefined) return undefined;
    change(record, layer, patch);
    return patch.respond === undefined ? undefined : responseOf(record, layer, patch.respond);
}

/** What `next` was given. */
export function applyToNext(record: Record, layer: Layer, given: unknown): void {
    const patch: RequestPatch<Slot> | undefined = patchOf(record, layer, "next", given, NEXT_KEYS);
    if (patch !== undefined) change(record, layer, patch);
}

/** What `onResponse` returned. */
export function applyToResponse(record: Record, layer: Layer, result: unknown, response: Response): Response {
    const patch: ResponsePatch<Slot> | undefined = patchOf(record, layer, "onResponse", result, RESPONSE_KEYS);
    if (patch === undefined) return response;
    const changed = patchResponse(response, patch);
    if (patch.set !== undefined) record.set(layer, patch.set);
    return changed !== response && record.frame.development ? frozen(changed, true) : changed;
}

/** What `onError` returned: a response ends the error. */
export function applyToError(record: Record, layer: Layer, result: unknown): Response | undefined {
    const patch: ErrorPatch<Slot> | undefined = patchOf(record, layer, "onError", result, ERROR_KEYS);
    if (patch === undefined) return undefined;
    if (patch.set !== undefined) record.set(layer, patch.set);
    return patch.respond === undefined ? undefined : responseOf(record, layer, patch.respond);
}

/** `onComplete` changes nothing. */
export function applyToComplete(layer: Layer, result: unknown): void {
    if (result !== undefined) throw kind(layer, "onComplete", result, "nothing, since all is over by then");
}

/** A response that somebody made; `layer` is undefined for the sender. */
export function responseOf(record: Record, layer: Layer | undefined, value: unknown): Response {
    const given = value as Partial<Response> | null | undefined;
    if (typeof given !== "object" || given === null || typeof given.status !== "number" || typeof given.headers !== "object") {
        throw kind(layer, undefined, value, "a response: { status: 200, headers: {}, body }");
    }
    return record.frame.development ? frozen(given as Response, false) : (given as Response);
}

function change(record: Record, layer: Layer, patch: RequestPatch<Slot>): void {
    const { headers } = patch;
    if (headers !== undefined && patch.method === undefined && patch.path === undefined && patch.body === undefined && !record.frame.development) changeHeaders(record, layer, headers);
    else changeAll(record, patch);
    if (patch.set !== undefined) record.set(layer, patch.set);
}

/** Nearly all patches are of headers alone. */
function changeHeaders(record: Record, layer: Layer, patch: HeaderPatch): void {
    const before = record.current;
    // A host's own message is not to be written, and its headers not to be looked at.
    if (record.isOwn) {
        const known = layer.merge.of(before.headers, patch);
        if (known !== undefined) {
            (before as { headers: Headers }).headers = known;
            record.ownsHeaders = false;
        } else if (record.ownsHeaders) writeHeaders(before, patch);
        else {
            const { headers } = before;
            const merged = patchHeaders(headers, patch);
            (before as { headers: Headers }).headers = merged;
            record.ownsHeaders = merged !== headers && !layer.merge.learnt(headers, patch, merged);
        }
        return;
    }
    if (isPatching(before)) {
        record.current = patchRequest(before, { headers: patch });
        return;
    }
    const { headers } = before;
    const known = layer.merge.of(headers, patch);
    const merged = known ?? patchHeaders(headers, patch);
    const isNew = merged !== headers;
    const isOwn = isNew && known === undefined && !layer.merge.learnt(headers, patch, merged);
    if (!isNew) return;
    record.current = withHeaders(before, merged);
    record.isOwn = true;
    record.ownsHeaders = isOwn;
}

function changeAll(record: Record, patch: RequestPatch<Slot>): void {
    const before = record.current;
    const changed = patchRequest(before, patch);
    if (changed === before) return;
    if (record.frame.development) {
        record.current = frozen(changed, true);
        return;
    }
    // Headers that somebody has seen may be in it still; those of a host's own message are not to be written, nor looked at.
    const isHosts = isPatching(changed);
    record.ownsHeaders = !isHosts && ((record.isOwn && record.ownsHeaders) || changed.headers !== before.headers);
    record.isOwn = !isHosts;
    record.current = changed;
}

function patchOf(record: Record, layer: Layer, hook: string, result: unknown, keys: readonly string[]): object | undefined {
    if (result === undefined) return undefined;
    if (typeof result !== "object" || result === null || Array.isArray(result)) throw kind(layer, hook, result, `nothing, or a patch: { ${keys.join(", ")} }`);
    if (record.frame.development) {
        const unknown = Object.keys(result).find((key) => !keys.includes(key));
        if (unknown !== undefined) throw kind(layer, hook, result, `a patch without "${unknown}": { ${keys.join(", ")} }`);
    }
    return result;
}

function kind(layer: Layer | undefined, hook: string | undefined, value: unknown, wanted: string): MiddlewareError {
    const who = layer === undefined ? "the sender" : `middleware "${layer.name}"`;
    const verb = hook === "next" ? "gave next" : hook === undefined ? "returned" : `returned from ${hook}`;
    return new MiddlewareError("result.kind", `${who} ${verb} ${describe(value)}; it takes ${wanted}`);
}

function describe(value: unknown): string {
    if (value === null) return "null";
    if (Array.isArray(value)) return "an array";
    return typeof value === "object" ? `an object with ${Object.keys(value).join(", ") || "nothing"}` : typeof value;
}
