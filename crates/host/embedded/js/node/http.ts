import { createServer, IncomingMessage, METHODS, OutgoingMessage, Server, ServerResponse, STATUS_CODES, validateHeaderName, validateHeaderValue } from "../http";

export { createServer, IncomingMessage, METHODS, OutgoingMessage, Server, ServerResponse, STATUS_CODES, validateHeaderName, validateHeaderValue };

/** Longest head of a request, in bytes, where a server says nothing else. */
export const maxHeaderSize = 16_384;

export function setMaxIdleHTTPParsers(): void {
    // There are none to keep: the engine parses.
}
