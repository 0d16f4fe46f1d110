// The socket of a connection, as programs see it. While HTTP is spoken it is a view of the connection; once that was taken over
// (an upgrade, CONNECT, bytes that are no request) it is a stream of its bytes.
import { Duplex } from "node:stream";
import type { IncomingMessage } from "./incoming";
import { aborted } from "./incoming";
import { becomesTunnel, type Exchange, type Line } from "./line";
import { ACK, http, IPV6, UNIX } from "./native";
import { hasState, lateState } from "./states";

const HIGH_WATER_MARK = 65_536;

export interface Socket extends Duplex {
    _line: Line;
    _httpMessage: object | null;
    timeout: number;
    server: unknown;
    _timer: ReturnType<typeof setTimeout> | null;
    _exchange: number;
    _opaque: boolean;
    _faulty: boolean;
    _reffed: boolean;
    /** The peer has ended its side of a connection that was taken over. */
    _rests: boolean;
    _unconfirmed: number;
    _waiting: (() => void) | null;
    bytesRead: number;
    bytesWritten: number;
    connecting: boolean;
    encrypted?: boolean;
    setTimeout(ms: number, callback?: () => void): this;
    destroySoon(): void;
    _hostClosed(): void;
}

function begin(socket: object): void {
    (Duplex as unknown as (this: unknown, options: object) => void).call(socket, { allowHalfOpen: true, emitClose: false, autoDestroy: true, highWaterMark: HIGH_WATER_MARK });
}

function LineSocket(this: Socket, line: Line): void {
    this._line = line;
    this.server = line.server;
}

export const Socket = LineSocket as unknown as { new (line: Line): Socket; prototype: Socket };
Object.defineProperty(Socket, "name", { value: "Socket" });
Object.setPrototypeOf(LineSocket.prototype, Duplex.prototype);
Object.setPrototypeOf(LineSocket, Duplex);
const proto = Socket.prototype;
lateState(proto, "_readableState", begin);
lateState(proto, "_writableState", begin);

const defaults = {
    _httpMessage: null,
    timeout: 0,
    _timer: null,
    _exchange: -1,
    _opaque: false,
    _faulty: false,
    _reffed: true,
    _rests: false,
    _unconfirmed: 0,
    _waiting: null,
    bytesRead: 0,
    bytesWritten: 0,
    connecting: false,
    pending: false,
    parser: null,
};
for (const [name, value] of Object.entries(defaults)) Object.defineProperty(proto, name, { configurable: true, enumerable: false, writable: true, value });

function fact(name: string, tell: (line: Line) => unknown): void {
    Object.defineProperty(proto, name, {
        configurable: true,
        enumerable: true,
        get(this: Socket): unknown {
            return this._line === undefined || this._line.closed ? undefined : tell(this._line);
        },
    });
}

const isUnix = (line: Line): boolean => (line.flags & UNIX) !== 0;
const family = (line: Line): string | undefined => (isUnix(line) ? undefined : (line.flags & IPV6) !== 0 ? "IPv6" : "IPv4");
fact("remoteAddress", (line) => (isUnix(line) ? undefined : line.remote));
fact("remotePort", (line) => (isUnix(line) ? undefined : line.remotePort));
fact("remoteFamily", family);
fact("localAddress", (line) => (isUnix(line) ? undefined : line.local));
fact("localPort", (line) => (isUnix(line) ? undefined : line.localPort));
fact("localFamily", family);

const members = {
    address(this: Socket): object {
        const line = this._line;
        return line.closed || isUnix(line) ? {} : { address: line.local, family: family(line), port: line.localPort };
    },

    setTimeout(this: Socket, ms: number, callback?: () => void): Socket {
        if (this._timer !== null) clearTimeout(this._timer);
        this._timer = null;
        this.timeout = ms;
        if (ms > 0) {
            this._timer = setTimeout(() => timedOut(this), ms);
            (this._timer as unknown as { unref(): void }).unref();
            if (callback) this.once("timeout", callback);
        } else if (callback) {
            this.removeListener("timeout", callback);
        }
        return this;
    },

    setNoDelay(this: Socket): Socket {
        return this;
    },
    setKeepAlive(this: Socket): Socket {
        return this;
    },
    ref(this: Socket): Socket {
        this._reffed = true;
        http.holdConnection(this._line.id, true);
        return this;
    },
    unref(this: Socket): Socket {
        this._reffed = false;
        http.holdConnection(this._line.id, false);
        return this;
    },

    destroySoon(this: Socket): void {
        if (this._opaque) {
            if (this.writable) this.end();
            if (this.writableFinished) this.destroy();
            else this.once("finish", () => this.destroy());
        } else {
            this.destroy();
        }
    },

    _read(this: Socket): void {
        if (this._opaque && this._exchange >= 0) http.read(this._exchange, HIGH_WATER_MARK);
    },

    _write(this: Socket, chunk: Uint8Array, _encoding: string, callback: (error?: Error) => void): void {
        const line = this._line;
        const exchange = this._exchange >= 0 ? this._exchange : (line.current?._exchange ?? -1);
        if (line.closed || exchange < 0) {
            callback(Object.assign(new Error("write EPIPE"), { code: "EPIPE", errno: -32, syscall: "write" }));
            return;
        }
        stir(this);
        this.bytesWritten += chunk.byteLength;
        this._unconfirmed += chunk.byteLength;
        const waits = this._unconfirmed > HIGH_WATER_MARK;
        const flags = waits ? ACK : 0;
        if (this._opaque || line.current?._headerSent === true) http.data(exchange, flags, chunk, false);
        else http.head(exchange, 0, flags, "", chunk, 0);
        if (waits && this._opaque) this._waiting = callback;
        else callback();
    },

    _final(this: Socket, callback: () => void): void {
        if (this._opaque) {
            stir(this);
            if (this._exchange >= 0) http.end(this._exchange, 0);
        } else {
            closeLine(this._line, false);
        }
        callback();
    },

    _destroy(this: Socket, error: Error | null, callback: (error?: Error | null) => void): void {
        if (this._timer !== null) clearTimeout(this._timer);
        const line = this._line;
        if (this._exchange >= 0) {
            if (!this._faulty) http.abort(this._exchange, false);
            else http.end(this._exchange, 0);
            this._exchange = -1;
        } else if (!line.closed) {
            closeLine(line, error !== null);
        }
        line.leave();
        const { current } = line;
        if (current !== null) {
            line.current = null;
            current._exchange = -1;
            current.destroyed = true;
            const { req } = current;
            process.nextTick(() => {
                if (!req.complete || !current._writableFinished) req.destroy(aborted());
                if (!current._closed) {
                    current._closed = true;
                    current.emit("close");
                }
            });
        }
        process.nextTick(() => this.emit("close", error !== null));
        if (error === null || this.listenerCount("error") > 0) {
            callback(error);
            return;
        }
        // The server hears of it in the program's place.
        process.nextTick(() => void line.server.emit("clientError", error, this));
        callback();
    },

    resetAndDestroy(this: Socket): Socket {
        if (!this._line.closed) http.destroyConnection(this._line.id, true);
        this.destroy();
        return this;
    },

    /** The host has closed the connection. */
    _hostClosed(this: Socket): void {
        if (this._timer !== null) clearTimeout(this._timer);
        if (this.destroyed) return;
        if (hasState(this, "_readableState") && this._opaque) this.push(null);
        this.destroy();
    },
};
for (const [name, value] of Object.entries(members)) Object.defineProperty(proto, name, { configurable: true, enumerable: false, writable: true, value });

Object.defineProperty(proto, "readyState", {
    configurable: true,
    get(this: Socket): string {
        if (this.destroyed || this._line.closed) return "closed";
        return "open";
    },
});

/** Something is sent to a peer that has ended its side. */
function stir(socket: Socket): void {
    if (!socket._rests) return;
    socket._rests = false;
    if (socket._reffed) http.holdConnection(socket._line.id, true);
}

/** Ends a connection: between two requests at once, else with what is under way. */
function closeLine(line: Line, reset: boolean): void {
    if (line.closed) return;
    const { current } = line;
    if (current !== null && current._exchange >= 0 && !current._emptyRest) http.abort(current._exchange, reset);
    else if (line.requests === 0 || reset) http.destroyConnection(line.id, reset);
    else http.closeConnection(line.id);
}

function timedOut(socket: Socket): void {
    socket._timer = null;
    const { server, current } = socket._line;
    const req = current?.req;
    const request = req !== undefined && !req.complete && req.emit("timeout", socket);
    const response = current?.emit("timeout", socket) === true;
    const heard = server.emit("timeout", socket);
    const own = socket.emit("timeout");
    if (!request && !response && !heard && !own) socket.destroy();
}

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
    opaque(socket, exchange, (head) => {
        (req as { upgrade: boolean | null }).upgrade = true;
        req._bodyDone = true;
        server.emit(event, req, socket, head);
    });
    http.opaque(exchange);
    http.read(exchange, HIGH_WATER_MARK);
    return true;
}

/** Lets the bytes of `exchange` pass through the socket; `ready` gets the first of them, once it is known whether there are any. */
export function opaque(socket: Socket, exchange: number, ready: ((head: Buffer) => void) | null): void {
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
            if (!begun(piece)) socket.push(piece);
        },
        end() {
            begun(Buffer.alloc(0));
        },
        gone() {
            begun(Buffer.alloc(0));
            socket._exchange = -1;
            socket._hostClosed();
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
