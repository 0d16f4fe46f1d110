// Connections, and how what the host tells finds the exchange that it is about.
import EventEmitter from "node:events";
import { abandon } from "./abandoned";
import { begins, type IncomingMessage, stopTaking } from "./incoming";
import { http, type Handshake, HAS_BODY, HAS_EXPECT, HAS_HOST, HTTP10, KEEP_ALIVE, OTHER_METHOD, UPGRADE } from "./native";
import { exchange as told, ServerResponse, begun } from "./response";
import { particular } from "./particular";
import { refusalOf, resetError, socketErrored } from "./refused";
import type { Server } from "./server";
import { Shapes } from "./shapes";
import { Socket } from "./socket";
import { refuse, takeOver } from "./tunnel";
import { METHODS } from "./statuses";

/** What an exchange is for the host: a response, or bytes that are no HTTP. */
export interface Exchange {
    data(bytes: Uint8Array): void;
    end(trailers: string[] | undefined): void;
    gone(reason: [code: string, status: number, text: string]): void;
    writable(): void;
    eof(): void;
}

/** What was said surely has left after LEAVE_MS, if it was no more than this. */
const LEFT_BYTES_MAX = 16_384;
const LEAVE_MS = 200;

/** One connection. */
export class Line {
    readonly id: number;
    readonly server: Server;
    readonly remote: string;
    readonly remotePort: number;
    readonly local: string;
    readonly localPort: number;
    readonly flags: number;
    /** What was answered last, or is being answered. */
    current: ServerResponse | null = null;
    requests = 0;
    closed = false;
    /** Ours is said: the engine ends it after what is under way. */
    ending = false;
    /** The client has gone, and the engine waits for nothing but a word that this was heard. */
    lost = false;
    /** The last reply that was not whole at once. */
    open: ServerResponse | null = null;
    /** What a handshake settled, where it is encrypted. */
    readonly tls: Handshake | undefined;
    /** Bytes of the last reply's body. */
    private lastBytes = 0;
    socket: Socket | null = null;

    constructor(id: number, server: Server, remote: string, remotePort: number, local: string, localPort: number, flags: number, tls: Handshake | undefined) {
        this.id = id;
        this.server = server;
        this.remote = remote;
        this.remotePort = remotePort;
        this.local = local;
        this.localPort = localPort;
        this.flags = flags;
        this.tls = tls;
    }

    /** The connection's socket, made when somebody asks. */
    socketOf(req?: IncomingMessage): Socket {
        const socket = (this.socket ??= this.tls === undefined ? new Socket(this) : encrypted(this, this.tls));
        if (req !== undefined && req._res !== null && this.current === req._res) socket._httpMessage = req._res;
        return socket;
    }

    /** A request is destroyed whose exchange is open. */
    destroyFor(req: IncomingMessage, error: Error | null): void {
        this.socketOf(req).destroy(error ?? undefined);
    }

    /** What is said of `res` from now on goes nowhere. */
    drop(res: ServerResponse): void {
        exchanges.delete(res._exchange);
        res._exchange = -1;
    }

    /** The program takes `res` off the connection, which another one, or its own bytes, may answer. */
    give(res: ServerResponse): void {
        if (this.current !== res) return;
        const stand = Object.create(ServerResponse.prototype) as ServerResponse;
        stand.req = res.req;
        stand._line = this;
        stand._exchange = res._exchange;
        stand._raw = res._headerSent || res._raw;
        exchanges.delete(res._exchange);
        register(stand._exchange, stand);
        this.current = res.req._res = stand;
        res._exchange = -1;
        res._line = null;
    }

    /** Nothing of it is left: the server may be closed. */
    over(): void {
        this.server._lines.delete(this);
        this.server._connectionEnded();
    }

    /** A reply is complete. */
    ended(res: ServerResponse): void {
        exchanges.delete(res._exchange);
    }

    /** Ours is said: the program need not stay until the client has ended its side, which may take its time. */
    leave(): void {
        if (this.closed || this.lastBytes > LEFT_BYTES_MAX) return;
        setTimeout(() => http.holdConnection(this.id, false), LEAVE_MS).unref();
    }

    /** Looks at how the objects of a reply that is over have grown, for the first few. */
    learn(res: ServerResponse): void {
        if (this.server._learned < LEARNED_MAX) learn(this.server, res);
    }

    detach(res: ServerResponse): void {
        if (this.current === res) this.current = null;
        this.lastBytes = res._contentLength ?? res._bytesWritten;
        this.learn(res);
        if (res._last && this.server._listening === null) this.leave();
        if (res._last) this.ending = true;
        if (this.socket !== null) {
            if (this.socket._httpMessage === res) this.socket._httpMessage = null;
            if (res._last) this.socket.destroySoon();
            else if (this.socket.timeout) this.socket.setTimeout(0);
        }
    }
}

/** What programs may have replaced: then it is called for what nobody listens to, too. */
const { emit } = EventEmitter.prototype;

/** Replies of a server whose objects' layouts are kept. */
const LEARNED_MAX = 16;

function learn(server: Server, res: ServerResponse): void {
    server._learned++;
    const shapes = (server._shapes ??= { requests: new Shapes(), responses: new Shapes(), headers: new Shapes() });
    shapes.requests.learn(res.req);
    shapes.responses.learn(res);
    if (res._headers !== null) shapes.headers.learn(res._headers);
}

/** Connections by the host's number. */
export const lines = new Map<number, Line>();
/** Servers by the host's number. */
export const servers = new Map<number, Server>();
/** Exchanges whose reply was not whole when the turn of their request was over. */
const exchanges = new Map<number, ServerResponse>();
/** Exchanges that were taken over. */
export const tunnels = new Map<number, Exchange>();

/** Reasons by number. */
let reasons: [code: string, status: number, text: string][] | undefined;

export function reasonOf(number: number): [code: string, status: number, text: string] {
    reasons ??= http.reasons();
    return reasons[number] ?? ["", 0, ""];
}

/** Makes what an exchange of `res` comes to bytes. */
export function becomesTunnel(exchange: number, tunnel: Exchange): void {
    exchanges.delete(exchange);
    tunnels.set(exchange, tunnel);
}

/** Lets the response `res` find what the host tells of its exchange. */
function register(exchange: number, res: ServerResponse): void {
    exchanges.set(exchange, res);
    (res._line as Line).open = res;
}

http.hooks({
    opened(server, connection, remote, remotePort, local, localPort, flags, tls) {
        const found = servers.get(server);
        if (found === undefined) return;
        const line = new Line(connection, found, remote, remotePort, local, localPort, flags, tls);
        lines.set(connection, line);
        http.line(connection, line);
        if (found.maxConnections && found._lines.size >= found.maxConnections) {
            found._drop(line);
            return;
        }
        found._lines.add(line);
        // The engine knows the connection when this call is over.
        if (found._isRetimed()) setImmediate(() => found._retime());
        if (found.timeout) line.socketOf().setTimeout(found.timeout);
        if (found.listenerCount("connection") > 0 || found.emit !== emit) found.emit("connection", line.socketOf());
        if (tls !== undefined && found.listenerCount("secureConnection") > 0 && line.socket?.destroyed !== true) found.emit("secureConnection", line.socketOf());
    },

    unshaken(server, remotePort, localPort, flags, [remote, local, code, words]) {
        servers.get(server)?._unshaken(remote, remotePort, local, localPort, flags, code, words);
    },

    request(line, req, exchange, flags) {
        serve(line as Line, req as IncomingMessage, exchange, flags);
    },

    body(req) {
        const { _res: res } = req as IncomingMessage;
        if (res !== null && res._exchange >= 0) told.body(res);
    },

    pending(given) {
        const req = given as IncomingMessage;
        const { _res: res } = req;
        // Its connection is gone, or what is left of it is not the program's.
        if (res === null || res._exchange < 0) return;
        if (!res._emptyRest) register(res._exchange, res);
        // Whoever does not read hears all the same of a body that breaks off.
        if (!req._bodyDone) begins(req);
    },

    emit,
    writeHead: ServerResponse.prototype.writeHead,
    implicitHeader: ServerResponse.prototype._implicitHeader,
    storeHeader: ServerResponse.prototype._storeHeader,
    setHeader: ServerResponse.prototype.setHeader,
    getHeader: ServerResponse.prototype.getHeader,
    endReply: ServerResponse.prototype.end,
    captures: Object.getOwnPropertySymbols(EventEmitter.prototype).find(({ description }) => description === "kCapture"),

    data(exchange, bytes) {
        const res = exchanges.get(exchange);
        if (res !== undefined) told.data(res, bytes);
        else tunnels.get(exchange)?.data(bytes);
    },

    end(exchange, trailers) {
        const res = exchanges.get(exchange);
        if (res !== undefined) told.end(res, trailers);
        else tunnels.get(exchange)?.end(trailers);
    },

    gone(exchange, reason) {
        const res = exchanges.get(exchange);
        if (res !== undefined) {
            exchanges.delete(exchange);
            gone(res, exchange, reasonOf(reason));
            return;
        }
        tunnels.get(exchange)?.gone(reasonOf(reason));
        tunnels.delete(exchange);
        http.abort(exchange, false);
    },

    closed(connection, reason) {
        const line = lines.get(connection);
        if (line === undefined) return;
        lines.delete(connection);
        const { current, open } = line;
        if (current !== null) stopTaking(current.req);
        if (open !== null && open._exchange >= 0) line.drop(open);
        const [code, status] = reasonOf(reason);
        // Whoever has seen neither its socket nor a request that is open can't notice, nor is told of a reset.
        if (line.socket !== null || current !== null || (code === "peer.reset" && !line.ending && line.server.listenerCount("clientError") > 0)) {
            const socket = line.socketOf();
            line.closed = true;
            if (current !== null) line.drop(current);
            socket._hostClosed(code, status);
        }
        line.closed = true;
        // What has arrived, or waits to be told, comes before the server's end.
        if (line.socket === null || line.socket.destroyed) line.over();
    },

    writable(exchange) {
        const res = exchanges.get(exchange);
        if (res !== undefined) told.writable(res);
        else tunnels.get(exchange)?.writable();
    },

    fault(exchange, connection, reason, bytes) {
        const line = lines.get(connection);
        if (line === undefined) {
            http.abort(exchange, false);
            return;
        }
        refuse(line, exchange, reasonOf(reason), bytes);
    },

    eof(exchange) {
        tunnels.get(exchange)?.eof();
    },

    stopped() {
        abandon(exchanges);
    },
});

/** Nobody waits for a reply any more: the client has gone, or broke off. */
function gone(res: ServerResponse, exchange: number, reason: [code: string, status: number, text: string]): void {
    const { req } = res;
    const line = res._line as Line;
    const [code] = reason;
    if (code === "peer.ended" && line.server.httpAllowHalfOpen && req.complete) {
        // The client may still read: the reply is the last one.
        res._last = true;
        register(exchange, res);
        return;
    }
    stopTaking(req);
    line.drop(res);
    line.lost = true;
    const socket = line.socketOf(req);
    if (code === "peer.reset") {
        socket.destroy(resetError());
    } else if (code !== "lane.aborted" && code !== "") {
        const error = refusalOf(reason, undefined);
        if (error !== undefined) socketErrored.call(socket, error);
        // A client that goes in the middle of a body is an error to Node, elsewhere it is the end.
        else if (!req.complete) socket.destroy(resetError());
    }
    socket.destroy();
    // The host waits for the word that this was heard.
    http.abort(exchange, false);
}

/** Loaded with the first connection that is encrypted. */
function encrypted(line: Line, tls: Handshake): Socket {
    return new (require("../leat/tls_server") as typeof import("../leat/tls_server")).TlsSocket(line, tls);
}

/** The bytes of a request's head, as near as they can be known. */
function headOf(req: IncomingMessage): Uint8Array {
    let text = `${req.method ?? ""} ${req.url ?? ""} HTTP/${req.httpVersion ?? ""}\r\n`;
    const { rawHeaders } = req;
    for (let at = 0; at < rawHeaders.length; at += 2) text += `${rawHeaders[at] ?? ""}: ${rawHeaders[at + 1] ?? ""}\r\n`;
    return Buffer.from(`${text}\r\n`, "latin1");
}

function serve(line: Line, req: IncomingMessage, exchange: number, flags: number): void {
    const { server } = line;
    line.requests++;
    req._line = line;
    req._exchange = exchange;
    if ((flags & OTHER_METHOD) !== 0 && !METHODS.includes(req.method as string)) {
        http.opaque(exchange);
        refuse(line, exchange, ["line.method_invalid", 400, ""], headOf(req));
        return;
    }
    if ((flags & HAS_BODY) !== 0) req._bodyDone = false;
    if ((flags & UPGRADE) !== 0 && takeOver(line, req, exchange)) return;
    const res = Object.create(server._responsePrototype) as ServerResponse;
    res.req = req;
    res._line = line;
    res._exchange = exchange;
    req._res = res;
    line.current = res;
    if (line.socket !== null) again(line, line.socket);
    if ((flags & HTTP10) !== 0 || req.method === "HEAD" || server._particular) {
        begun(res, req, server._strictBodies);
        if ((flags & KEEP_ALIVE) !== 0) res.shouldKeepAlive = true;
        if (server._particular) particular(line, req, res);
    }
    if ((flags & KEEP_ALIVE) === 0) res.shouldKeepAlive = false;
    res._keepAliveTimeout = server.keepAliveTimeout;
    const max = server.maxRequestsPerSocket;
    if (max > 0) {
        res._maxRequestsPerSocket = max;
        res.maxRequestsOnConnectionReached = max <= line.requests;
        if (line.requests > max && (flags & HTTP10) === 0) {
            server.emit("dropRequest", req, line.socketOf(req));
            res.writeHead(503);
            res.end();
            return;
        }
    }
    if ((flags & (HAS_HOST | HTTP10)) === 0 && server.requireHostHeader && (req.httpVersionMajor === 1)) {
        res.writeHead(400, ["Connection", "close"]);
        res.end();
    } else if ((flags & HAS_EXPECT) !== 0 && (flags & HTTP10) === 0) {
        expect(server, req, res);
    } else {
        server.emit("request", req, res);
    }
    if ((flags & HAS_BODY) === 0) req.complete = true;
}

/** Another request on a connection whose socket somebody has seen. */
function again({ server, requests }: Line, socket: Socket): void {
    socket._closeListeners = socket.listenerCount("close");
    if (server.timeout && requests > 1) socket.setTimeout(server.timeout);
    else socket._active();
}

const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

function expect(server: Server, req: IncomingMessage, res: ServerResponse): void {
    if (CONTINUE.test(req.headers["expect"] as string)) {
        res._expect_continue = true;
        if (server.listenerCount("checkContinue") > 0) {
            server.emit("checkContinue", req, res);
        } else {
            (res as unknown as { writeContinue(): void }).writeContinue();
            server.emit("request", req, res);
        }
    } else if (server.listenerCount("checkExpectation") > 0) {
        server.emit("checkExpectation", req, res);
    } else {
        res.writeHead(417);
        res.end();
    }
}
