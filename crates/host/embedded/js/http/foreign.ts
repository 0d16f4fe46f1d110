// Responses that are on none of the engine's connections: made by `new`, and given a socket by `assignSocket` or never. Test
// tools and adapters of functions in a cloud use them so.
import { codes } from "../leat/errors";
import { type Chunk, isLatin1 } from "./chunk";
import type { ServerResponse } from "./response";

type Callback = (error?: Error | null) => void;

/** What waits for a socket. */
export interface Pending {
    data: Chunk;
    encoding: string | undefined;
    callback: Callback | undefined;
}

/** A socket as responses see it. */
interface AnySocket {
    _httpMessage?: ServerResponse | null;
    destroyed?: boolean;
    writable?: boolean;
    write(chunk: Chunk, encoding?: string, callback?: Callback): boolean;
    on(event: string, listener: (this: AnySocket) => void): void;
    removeListener(event: string, listener: (this: AnySocket) => void): void;
}

/** The socket is closed, and the response with it. */
function closed(this: AnySocket): void {
    const res = this._httpMessage;
    if (res === null || res === undefined || res._closed) return;
    res.destroyed = true;
    res._closed = true;
    res.emit("close");
}

/** Puts a response on a socket. */
export function assign(res: ServerResponse, given: object): void {
    const socket = given as AnySocket;
    if (socket._httpMessage) throw new codes.ERR_HTTP_SOCKET_ASSIGNED();
    socket._httpMessage = res;
    socket.on("close", closed);
    res.socket = socket;
    flush(res, socket);
}

/** Takes it off. */
export function detachFrom(res: ServerResponse, given: object | undefined): void {
    const socket = given as AnySocket | undefined;
    if (socket !== undefined) {
        socket.removeListener("close", closed);
        socket._httpMessage = null;
    }
    res.socket = null;
}

function flush(res: ServerResponse, socket: AnySocket): void {
    const output = res._output;
    if (output === null || !socket.writable) return;
    res._output = null;
    let taken = true;
    for (const { data, encoding, callback } of output) taken = socket.write(data, encoding, callback);
    if (res.finished) {
        res.emit("prefinish");
    } else if (taken && res._needDrain) {
        res._needDrain = false;
        res.emit("drain");
    }
}

/** Sends bytes, behind the head if that `leads` and has not left. Whether more may come at once. */
export function writeForeign(res: ServerResponse, chunk: Chunk, encoding: string | undefined, callback: Callback | undefined, leads: boolean): boolean {
    let body = chunk;
    let as = encoding;
    if (leads && !res._headerSent && res._header !== null) {
        res._headerSent = true;
        // Text leaves in one with the head, as by Node.
        if (typeof body === "string" && (as === undefined || as === "utf8" || isLatin1(as))) {
            body = res._header + body;
            as ??= "utf8";
        } else {
            put(res, res._header, "latin1", undefined);
        }
    }
    const taken = put(res, body, as, callback);
    if (!taken) res._needDrain = true;
    return taken;
}

/** Bytes that may wait for a socket before a writer is told to wait too. */
const OUTPUT_BYTES_MAX = 16_384;

function put(res: ServerResponse, chunk: Chunk, encoding: string | undefined, callback: Callback | undefined): boolean {
    const socket = res.socket as AnySocket | null;
    if (socket?.destroyed === true) return false;
    if (socket !== null && socket._httpMessage === res && socket.writable) {
        flush(res, socket);
        return socket.write(chunk, encoding, callback);
    }
    (res._output ??= []).push({ data: chunk, encoding, callback });
    return waiting(res) < OUTPUT_BYTES_MAX;
}

/** A piece of a body, in as many writes as by Node: tools look at them. */
export function writePiece(res: ServerResponse, chunk: Chunk, encoding: string | undefined, length: number, callback: Callback | undefined): boolean {
    if (!res.chunkedEncoding) return writeForeign(res, chunk, encoding, callback, true);
    writeForeign(res, length.toString(16), "latin1", undefined, true);
    writeForeign(res, CRLF, undefined, undefined, true);
    writeForeign(res, chunk, encoding, undefined, true);
    return writeForeign(res, CRLF, undefined, callback, true);
}

const CRLF = Buffer.from("\r\n");

/** What waits for a socket: characters and bytes. */
export function waiting(res: ServerResponse): number {
    return (res._output ?? []).reduce((sum, { data }) => sum + data.length, 0);
}

/** Everything is said; `tail` ends the body. 'finish' comes when the socket has taken it. */
export function endForeign(res: ServerResponse, tail: string): void {
    const taken = (error?: Error | null): void => {
        if (error || res._writableFinished) return;
        res._writableFinished = true;
        res.emit("finish");
    };
    writeForeign(res, tail, "latin1", taken, true);
    res.finished = true;
    if (res._output === null && (res.socket as AnySocket | null)?._httpMessage === res) res.emit("prefinish");
}
