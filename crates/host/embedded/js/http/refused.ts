// Bytes that are no request, and connections that break: what a server does by them.
import type { Socket } from "./socket";

interface ClientError extends Error {
    code?: string;
    rawPacket?: Buffer;
}

/** Loaded at the first bytes that are no request. */
const words = (): typeof import("../../../../../packages/leat/src/http/parse_errors") => require("../../../../../packages/leat/src/http/parse_errors");

const ignore = (): void => undefined;

/** What a server does by an error of its socket: 'clientError', or a reply that says what was wrong and the end. */
export function socketErrored(this: Socket, error: ClientError): void {
    this.removeListener("error", socketErrored);
    if (this.listenerCount("error") === 0) this.on("error", ignore);
    const line = this._line;
    if (line.server.emit("clientError", error, this)) return;
    if (this.writable && line.current?._headerSent !== true) this.write(words().answerTo(error.code), "latin1");
    this.destroy(error);
}

/** The error that Node would give for what the engine refused, or undefined where the connection just ended. */
export function refusalOf([code, status, text]: [code: string, status: number, text: string], bytes: Uint8Array | undefined): ClientError | undefined {
    return words().clientError({ code, status, text } as Parameters<ReturnType<typeof words>["clientError"]>[0], bytes === undefined || bytes.length === 0 ? undefined : Buffer.from(bytes));
}

/** Whether whatever comes behind is as wrong. */
export function isLasting(error: ClientError | undefined): boolean {
    return words().isLasting(error);
}

/** A connection that the peer reset. */
export function resetError(): Error {
    return Object.assign(new Error("read ECONNRESET"), { errno: -104, code: "ECONNRESET", syscall: "read" });
}
