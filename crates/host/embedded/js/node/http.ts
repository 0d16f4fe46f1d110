import { createServer, IncomingMessage, METHODS, OutgoingMessage, Server, ServerResponse, STATUS_CODES, validateHeaderName, validateHeaderValue } from "../http";

export { createServer, IncomingMessage, METHODS, OutgoingMessage, Server, ServerResponse, STATUS_CODES, validateHeaderName, validateHeaderValue };

/** Longest head of a request, in bytes, where a server says nothing else. */
export const maxHeaderSize = 16_384;

export function setMaxIdleHTTPParsers(): void {
    // There are none to keep: the engine parses.
}

type Client = typeof import("../leat/client");
const client = (): Client => require("../leat/client") as Client;

/** Begins a request to a server. */
export function request(...given: Parameters<Client["request"]>): ReturnType<Client["request"]> {
    return client().request(...given);
}

/** A request without a body. */
export function get(...given: Parameters<Client["get"]>): ReturnType<Client["get"]> {
    return client().get(...given);
}

// What only clients need is loaded when it is touched.
declare const module: { exports: object };
function late(name: string, load: () => unknown): void {
    Object.defineProperty(module.exports, name, { configurable: true, enumerable: true, get: load });
}
late("ClientRequest", () => client().ClientRequest);
late("Agent", () => (require("../leat/agent") as typeof import("../leat/agent")).Agent);
late("globalAgent", () => (require("../leat/agent") as typeof import("../leat/agent")).globalAgent);
