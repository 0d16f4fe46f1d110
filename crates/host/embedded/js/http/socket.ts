// The socket of a connection, as programs see it. While HTTP is spoken it is a view of the connection; once that was taken over
// (an upgrade, CONNECT, bytes that are no request) it is a stream of its bytes.
import EventEmitter from "node:events";
import { Duplex } from "node:stream";
import { codes } from "../leat/errors";
import { aborted } from "./incoming";
import { type Line, tunnels } from "./line";
import { ACK, hide, http, IPV6, UNIX } from "./native";
import { socketErrored, resetError } from "./refused";
import { sendLate, type ServerResponse } from "./response";
import { hasState, lateState } from "./states";

/** Bytes that are asked for at once, and that may be under way before a writer waits. */
export const WINDOW_BYTES = 65_536;
/** What programs are told, and what it was by Node.js 20. */
export const HIGH_WATER_MARK = 16_384;

type Listener = (this: Socket, ...args: never[]) => void;

export interface Socket extends Duplex {
    _line: Line;
    _httpMessage: ServerResponse | null;
    timeout: number | undefined;
    server: unknown;
    _timer: ReturnType<typeof setTimeout> | null;
    _exchange: number;
    _opaque: boolean;
    _faulty: boolean;
    _reffed: boolean;
    /** The peer has ended its side of a connection that was taken over. */
    _rests: boolean;
    /** The peer has ended its side. */
    _peerEnded: boolean;
    /** As `_peerEnded`, of a connection that was taken over. */
    _eof: boolean;
    /** It is on its way to a reset. */
    _resets: boolean;
    _unconfirmed: number;
    _waiting: (() => void) | null;
    /** Listeners of 'close' from before the request. */
    _closeListeners: number;
    /** Whether 'pause' was told. */
    _paused: boolean;
    /** How often it was corked. */
    _corks: number;
    _parser: object | undefined;
    readonly remoteAddress: string | undefined;
    readonly remotePort: number | undefined;
    readonly remoteFamily: string | undefined;
    readonly localAddress: string | undefined;
    readonly localPort: number | undefined;
    readonly localFamily: string | undefined;
    bytesRead: number;
    bytesWritten: number;
    connecting: boolean;
    encrypted?: boolean;
    setTimeout(ms: number, callback?: () => void): this;
    destroySoon(): void;
    _hostClosed(reason: string, status: number): void;
    _active(): void;
    _tellPaused(paused: boolean): void;
}

function begin(socket: object): void {
    const mark = (socket as Socket)._line.server._options.highWaterMark ?? HIGH_WATER_MARK;
    (Duplex as unknown as (this: unknown, options: object) => void).call(socket, { allowHalfOpen: true, emitClose: false, autoDestroy: true, highWaterMark: mark });
}

function LineSocket(this: Socket, line: Line): void {
    this._line = line;
    this.server = line.server;
    // Not by the stream's own method, which would make the state.
    for (const [event, listener] of listeners) on.call(this, event, listener as () => void);
}

const { on } = EventEmitter.prototype;

export const Socket = LineSocket as unknown as { new (line: Line): Socket; prototype: Socket };
Object.defineProperty(Socket, "name", { value: "Socket" });
Object.setPrototypeOf(LineSocket.prototype, Duplex.prototype);
Object.setPrototypeOf(LineSocket, Duplex);
const proto = Socket.prototype;
lateState(proto, "_readableState", begin);
lateState(proto, "_writableState", begin);

const defaults = {
    _httpMessage: null,
    timeout: undefined,
    _timer: null,
    _exchange: -1,
    _opaque: false,
    _faulty: false,
    _reffed: true,
    _rests: false,
    _peerEnded: false,
    _eof: false,
    _resets: false,
    _unconfirmed: 0,
    _waiting: null,
    _closeListeners: 1,
    _paused: false,
    _corks: 0,
    _parser: undefined,
    bytesRead: 0,
    bytesWritten: 0,
    connecting: false,
    pending: false,
};
hide(proto, defaults);

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

/** What a server does by events of its sockets; they leave with HTTP. */
const listeners: [event: string, listener: Listener][] = [
    ["close", closed],
    ["timeout", timedOut],
    ["error", socketErrored as unknown as Listener],
    ["end", peerEnded],
];

const members = {
    address(this: Socket): object {
        const line = this._line;
        return line.closed || isUnix(line) ? {} : { address: line.local, family: family(line), port: line.localPort };
    },

    setTimeout(this: Socket, ms: number, callback?: () => void): Socket {
        if (typeof ms !== "number") throw new codes.ERR_INVALID_ARG_TYPE("msecs", "number", ms);
        if (ms < 0 || !Number.isFinite(ms)) throw new codes.ERR_OUT_OF_RANGE("msecs", "a non-negative finite number", ms);
        if (callback !== undefined && typeof callback !== "function") throw new codes.ERR_INVALID_ARG_TYPE("callback", "Function", callback);
        if (this.destroyed) return this;
        if (this._timer !== null) clearTimeout(this._timer);
        this._timer = null;
        this.timeout = ms;
        if (ms > 0) {
            this._timer = setTimeout(expired, ms, this);
            (this._timer as unknown as { unref(): void }).unref();
            if (callback) this.once("timeout", callback);
        } else if (callback) {
            this.removeListener("timeout", callback);
        }
        return this;
    },

    /** Bytes have come or gone. */
    _active(this: Socket): void {
        (this._timer as unknown as { refresh(): void } | null)?.refresh();
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

    /** Refused as by Node's server, after an upgrade too. */
    setEncoding(): never {
        throw new codes.ERR_HTTP_SOCKET_ENCODING();
    },

    destroySoon(this: Socket): void {
        if (this.writable) this.end();
        if (this.writableFinished) this.destroy();
        else this.once("finish", this.destroy as () => void);
    },

    /** What a program calls, and what a body's stream calls that is full: programs listen to both. */
    pause(this: Socket): Socket {
        if (this._opaque) return Duplex.prototype.pause.call(this) as Socket;
        this._tellPaused(true);
        return this;
    },

    resume(this: Socket): Socket {
        if (this._opaque || this._peerEnded) return Duplex.prototype.resume.call(this) as Socket;
        this._tellPaused(false);
        return this;
    },

    /** What is written waits, replies too. */
    cork(this: Socket): void {
        this._corks++;
        Duplex.prototype.cork.call(this);
    },

    uncork(this: Socket): void {
        Duplex.prototype.uncork.call(this);
        if (this._corks > 0) this._corks--;
        const { current } = this._line;
        if (this._corks === 0 && current !== null) sendLate(current);
    },

    _tellPaused(this: Socket, paused: boolean): void {
        if (paused === this._paused) return;
        this._paused = paused;
        if (paused) this.emit("pause");
        else process.nextTick(() => this.emit("resume"));
    },

    _read(this: Socket): void {
        if (this._opaque && this._exchange >= 0) http.read(this._exchange, WINDOW_BYTES);
    },

    _write(this: Socket, chunk: Uint8Array, _encoding: string, callback: (error?: Error) => void): void {
        const line = this._line;
        const res = this._opaque ? null : line.current;
        const exchange = this._exchange >= 0 ? this._exchange : (res?._exchange ?? -1);
        if (line.closed || line.lost || exchange < 0) {
            callback(Object.assign(new Error("write EPIPE"), { code: "EPIPE", errno: -32, syscall: "write" }));
            return;
        }
        stir(this);
        this._active();
        this.bytesWritten += chunk.byteLength;
        this._unconfirmed += chunk.byteLength;
        const waits = this._unconfirmed > WINDOW_BYTES;
        const flags = waits ? ACK : 0;
        if (res === null || res._headerSent || res._raw) {
            http.data(exchange, flags, chunk, false);
        } else if (isInterim(chunk)) {
            http.interim(exchange, Number(Buffer.from(chunk.subarray(9, 12)).toString("latin1")), Buffer.from(chunk).toString("latin1"));
        } else {
            // A reply of the program's own, or the beginning of what comes before the reply.
            res._raw = true;
            http.head(exchange, 0, flags, "", chunk, 0);
        }
        if (waits && this._opaque) this._waiting = callback;
        else callback();
    },

    _final(this: Socket, callback: () => void): void {
        shutdown(this);
        setImmediate(callback);
    },

    _destroy(this: Socket, error: Error | null, callback: (error?: Error | null) => void): void {
        if (this._timer !== null) clearTimeout(this._timer);
        this._timer = null;
        const line = this._line;
        closeOut(this, this._resets);
        line.leave();
        if (line.current !== null) line.drop(line.current);
        if (line.closed) line.over();
        setImmediate(() => this.emit("close", error !== null));
        callback(error);
    },

    resetAndDestroy(this: Socket): Socket {
        if (this.destroyed) return this.destroy(new codes.ERR_SOCKET_CLOSED());
        if (this.encrypted === true || isUnix(this._line)) throw new codes.ERR_INVALID_HANDLE_TYPE();
        this._resets = true;
        return this.destroy();
    },

    /** At 'close' the response's turn comes where Node's listener for it would stand: behind those from before the request. */
    emit(this: Socket, event: string | symbol, ...args: unknown[]): boolean {
        const res = event === "close" ? this._line.current : null;
        if (res === null || this._opaque && !this._faulty) return emit.call(this, event, ...args);
        const all = this.rawListeners("close");
        const before = Math.min(this._closeListeners, all.length);
        all.forEach((listener, at) => {
            if (at === before) closeResponse(res);
            Reflect.apply(listener, this, args);
        });
        if (before === all.length) closeResponse(res);
        return true;
    },

    /** The host has closed the connection, for a reason with this code and status. */
    _hostClosed(this: Socket, reason: string, status: number): void {
        const line = this._line;
        const byPeer = !line.ending && !this._opaque;
        if (this._opaque && status === 0 && this._eof && !this.readableEnded) return;
        if (this.destroyed) return;
        if (hasState(this, "_writableState") && this.writableEnded && !this.writableFinished) {
            this.once("finish", this.destroy as () => void);
            return;
        }
        if (reason === "time.idle") {
            this.emit("timeout");
        } else if (!line.ending && reason === "peer.reset") {
            this.destroy(resetError());
            return;
        } else if (byPeer && line.current === null) {
            // Node's server ends its side by this event.
            this._peerEnded = true;
            this.push(null);
            this.resume();
            return;
        }
        this.destroy();
    },
};
const { emit } = EventEmitter.prototype;
hide(proto, members);

Object.defineProperty(proto, "readyState", {
    configurable: true,
    get(this: Socket): string {
        if (this.destroyed || this._line.closed) return "closed";
        return "open";
    },
});

/** What programs that know Node's server look for the current request in. */
Object.defineProperty(proto, "parser", {
    configurable: true,
    get(this: Socket): object | null {
        const line = this._line;
        if (this._opaque) return null;
        return (this._parser ??= {
            socket: this,
            get incoming(): unknown {
                return line.current?.req ?? null;
            },
        });
    },
});

/** Leaves HTTP: from now on it is a plain stream of bytes. */
export function leaveHttp(socket: Socket): void {
    for (const [event, listener] of listeners) if (event !== "end") socket.removeListener(event, listener as () => void);
}

/** Something is sent to a peer that has ended its side. */
export function stir(socket: Socket): void {
    if (!socket._rests) return;
    socket._rests = false;
    if (socket._reffed) http.holdConnection(socket._line.id, true);
}

/** Whether the bytes are one whole 1xx head (other than 101, which ends HTTP). */
function isInterim(chunk: Uint8Array): boolean {
    if (chunk.byteLength > 8192) return false;
    const text = Buffer.from(chunk).toString("latin1");
    return text.startsWith("HTTP/1.1 1") && !text.startsWith("HTTP/1.1 101") && text.endsWith("\r\n\r\n");
}

/** Half-closes: nothing more is written to the socket. */
function shutdown(socket: Socket): void {
    const line = socket._line;
    if (socket._opaque) {
        stir(socket);
        if (socket._exchange >= 0) http.end(socket._exchange, 0);
        return;
    }
    closeOut(socket, false);
    if (line.current !== null) line.current._exchange = -1;
}

/** Lets the engine end the connection: a reply that has begun goes out as far as it was written. */
function closeOut(socket: Socket, reset: boolean): void {
    const line = socket._line;
    const { current } = line;
    if (socket._exchange >= 0) {
        if (!reset) http.end(socket._exchange, 0);
        if (reset || !socket._faulty) http.abort(socket._exchange, reset);
        tunnels.delete(socket._exchange);
        socket._exchange = -1;
        return;
    }
    if (line.closed || line.lost || (line.ending && !reset)) return;
    line.ending = true;
    if (current !== null && current._exchange >= 0 && !current._emptyRest) {
        // An end without a head would be answered by the engine.
        if (reset || !(current._headerSent || current._raw)) http.abort(current._exchange, reset);
        else http.end(current._exchange, 0);
    } else if (reset || line.requests === 0) {
        http.destroyConnection(line.id, reset);
    } else {
        http.closeConnection(line.id);
    }
}

/** The socket is closed: the request that is open ends with it. */
function closed(this: Socket): void {
    const { current } = this._line;
    if (current === null) return;
    this._line.current = null;
    current.req._res = null;
    current.req.destroy(aborted());
}

function closeResponse(res: ServerResponse): void {
    if (res._closed) return;
    res.destroyed = true;
    res._closed = true;
    res.emit("close");
}

/** The client ended its side of an idle connection, and the server does the same. */
function peerEnded(this: Socket): void {
    if (this._peerEnded) this.end();
}

function expired(socket: Socket): void {
    socket._timer = null;
    socket.emit("timeout");
}

/** Nothing happened on the socket for its `timeout`. */
function timedOut(this: Socket): void {
    const { server, current } = this._line;
    const req = current?.req;
    const request = req !== undefined && !req.complete && req.emit("timeout", this);
    const response = current?.emit("timeout", this) === true;
    const heard = server.emit("timeout", this);
    if (!request && !response && !heard) this.destroy();
}
