// Connections that leave HTTP: upgrades, CONNECT, and bytes that are no request.
import { type IncomingMessage, stopTaking } from "./incoming";
import { becomesTunnel, type Exchange, type Line } from "./line";
import { ACK, http } from "./native";
import { isLasting, refusalOf, socketErrored } from "./refused";
import { leaveHttp, type Socket, WINDOW_BYTES } from "./socket";

type Reason = [code: string, status: number, text: string];

/** Hands the connection of an exchange over to the program's listeners for upgrades. False if there are none. */
export function takeOver(line: Line, req: IncomingMessage, exchange: number): boolean {
    const connects = req.method === "CONNECT";
    const event = connects ? "connect" : "upgrade";
    const { server } = line;
    if (server.listenerCount(event) === 0) {
        if (!connects) return false;
        line.socketOf().destroy();
        http.abort(exchange, false);
        return true;
    }
    const socket = line.socketOf();
    (req as { upgrade: boolean | null }).upgrade = true;
    req._bodyDone = true;
    req.complete = true;
    leaveHttp(socket);
    opaque(socket, exchange, (head) => {
        server.emit(event, req, socket, head);
    });
    http.opaque(exchange);
    http.read(exchange, WINDOW_BYTES);
    return true;
}

/** Bytes came that are no request, or not the rest of one. The engine took `exchange` over, or is asked to. */
export function refuse(line: Line, exchange: number, reason: Reason, bytes: Uint8Array): void {
    const socket = line.socketOf();
    if (socket.destroyed) {
        // Nobody else would end the exchange.
        http.abort(exchange, false);
        return;
    }
    const { current } = line;
    if (current !== null) {
        stopTaking(current.req);
        current._exchange = -1;
    }
    socket._faulty = true;
    const error = refusalOf(reason, bytes);
    const lasting = isLasting(error);
    opaque(socket, exchange, null, (more) => {
        if (!lasting) return false;
        const again = socket.destroyed ? undefined : refusalOf(reason, more);
        if (again !== undefined) socketErrored.call(socket, again);
        return true;
    });
    http.read(exchange, WINDOW_BYTES);
    if (error === undefined) socket.destroy();
    else socketErrored.call(socket, error);
}

/** Lets the bytes of `exchange` pass through the socket; `ready` gets the first of them, once it is known whether there are any. */
function opaque(socket: Socket, exchange: number, ready: ((head: Buffer) => void) | null, taken?: (bytes: Uint8Array) => boolean): void {
    socket._exchange = exchange;
    socket._opaque = true;
    let waiting = ready;
    const begun = (head: Buffer): boolean => {
        const call = waiting;
        waiting = null;
        call?.(head);
        return call !== null;
    };
    const tunnel: Exchange = {
        data(bytes) {
            const piece = Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
            socket.bytesRead += piece.length;
            socket._active();
            if (taken?.(piece) === true) http.read(exchange, WINDOW_BYTES);
            else if (!begun(piece)) socket.push(piece);
        },
        end() {
            begun(Buffer.alloc(0));
        },
        gone(reason) {
            begun(Buffer.alloc(0));
            socket._exchange = -1;
            socket._line.lost = true;
            socket._hostClosed(reason[0], reason[1]);
        },
        writable() {
            if (begun(Buffer.alloc(0))) return;
            socket._unconfirmed = 0;
            const call = socket._waiting;
            socket._waiting = null;
            call?.();
        },
        eof() {
            begun(Buffer.alloc(0));
            socket._rests = true;
            socket._eof = true;
            socket.push(null);
            socket.read(0);
            if (socket._faulty) socket.end();
            // With nothing to read or to send it is not active, as Node's.
            if (socket._rests && socket._waiting === null) http.holdConnection(socket._line.id, false);
        },
    };
    becomesTunnel(exchange, tunnel);
    // Bytes that are there already come before this is confirmed.
    if (ready !== null) queueMicrotask(() => http.data(exchange, ACK, undefined, false));
}
