// Why a request failed, with Node's codes and messages.
import { connectError, type Asked } from "../web/exchange";

/** What Node has and this host does not: said where it is asked for. */
export function unsupported(what: string): Error {
    return Object.assign(new Error(`leat run does not have ${what} of requests; node --import leat/register runs this program on Node.js`), { code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM" });
}

/** The server went away, or the program gave up. */
export function hangUp(): Error {
    return Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
}

/** The error of what the native side tells. */
export function errorOf(kind: string, detail: string, asked: Asked): Error {
    switch (kind) {
        case "resolve":
        case "connect":
            return connectError(kind, asked);
        case "connectTime":
            return Object.assign(new Error(`connect ETIMEDOUT ${asked.host}:${asked.port}`), { errno: -110, code: "ETIMEDOUT", syscall: "connect", address: asked.host, port: asked.port });
        case "reset":
            return hangUp();
        case "tls":
            return Object.assign(new Error(`the TLS handshake with ${asked.host}:${asked.port} failed: its certificate is not trusted, or it speaks no TLS`), { code: "ERR_TLS_HANDSHAKE" });
        case "headBytes":
            return Object.assign(new Error("Parse Error: Header overflow"), { code: "HPE_HEADER_OVERFLOW" });
        case "length":
            return Object.assign(new Error("Request body length does not match content-length header"), { code: "ERR_HTTP_CONTENT_LENGTH_MISMATCH" });
        case "invalid":
            return Object.assign(new Error(`Parse Error: Expected HTTP/ (${detail})`), { code: "HPE_INVALID_CONSTANT" });
        default:
            return Object.assign(new Error(detail || kind), { code: "ECONNABORTED" });
    }
}
