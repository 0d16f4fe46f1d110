// 'clientError': what Node says of bytes that are no request, and what it answers if nobody listens.
import { STATUS_CODES } from "node:http";
import { dateNow } from "./date";
import { answerTo, type ClientError, nodeError, resetError } from "./parse_errors";
import { kChannel, type LeatSocket } from "./socket";

export { type ClientError, clientError, isLasting, nodeError, parseError, resetError } from "./parse_errors";

/** Why a TLS handshake failed, as Node tells it. */
export function handshakeError(code: string, words: string): ClientError {
    if (code === "ECONNRESET") return words.startsWith("read") ? resetError() : Object.assign(new Error(words), { code });
    if (!code.startsWith("ERR_SSL_")) return nodeError(code, words);
    return Object.assign(new Error(`error:SSL routines::${words}`), { library: "SSL routines", reason: words, code });
}

/** A request without Host is none to the engine. Node answers it as a request, and so in these words. */
export function answerMissingHost(socket: LeatSocket): void {
    socket.end(`HTTP/1.1 400 ${STATUS_CODES[400] ?? ""}\r\nConnection: close\r\nDate: ${dateNow()}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, "latin1");
}

const ignore = (): void => undefined;

/** What a server does by an error of its socket: 'clientError', or a reply that says what was wrong and the end. */
export function socketErrored(this: LeatSocket, error: ClientError): void {
    this.removeListener("error", socketErrored);
    if (this.listenerCount("error") === 0) this.on("error", ignore);
    const { server } = this[kChannel].core;
    if (server.emit("clientError", error, this)) return;
    const res = this._httpMessage as { _headerSent: boolean } | null;
    if (this.writable && (res === null || !res._headerSent)) this.write(answerTo(error.code), "latin1");
    this.destroy(error);
}
