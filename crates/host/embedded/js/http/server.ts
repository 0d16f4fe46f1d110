import EventEmitter from "node:events";
import { codes } from "../leat/errors";
import { IncomingMessage } from "./incoming";
import { Line, lines, servers } from "./line";
import { hide, http, IPV6, type Listening, type ListenOptions, UNIX } from "./native";
import { isParticular } from "./particular";
import { ServerResponse } from "./response";
import type { Shapes } from "./shapes";
import { STATUS_CODES } from "./statuses";

/** Set on an app whose requests and responses inherit from prototypes of its own: `{ request, response }`. */
export const kMessages = Symbol("leat.messages");

interface Options {
    IncomingMessage?: typeof IncomingMessage;
    ServerResponse?: typeof ServerResponse;
    keepAliveTimeout?: number;
    headersTimeout?: number;
    requestTimeout?: number;
    maxHeaderSize?: number;
    connectionsCheckingInterval?: number;
    http2?: boolean;
    noDelay?: boolean;
    keepAlive?: boolean;
    keepAliveInitialDelay?: number;
    joinDuplicateHeaders?: boolean;
    requireHostHeader?: boolean;
    rejectNonStandardBodyWrites?: boolean;
    highWaterMark?: number;
    uniqueHeaders?: string[];
    insecureHTTPParser?: boolean;
    tls?: object;
}

type Listener = (...args: unknown[]) => void;
interface Times {
    headersTimeout: number;
    requestTimeout: number;
    keepAliveTimeout: number;
}

/** How much longer than it tells Node leaves an idle connection open. */
const KEEP_ALIVE_BUFFER_MS = 1000;
/** Node cuts off the list of fields by itself; the engine's own limit is the size of the head. */
const FIELDS_MAX = 0xffff;

export interface Server extends EventEmitter {
    listening: boolean;
    keepAliveTimeout: number;
    headersTimeout: number;
    requestTimeout: number;
    /** Shown, and not needed: the engine has a timer for each connection. */
    connectionsCheckingInterval: number;
    maxHeadersCount: number | null;
    maxRequestsPerSocket: number;
    maxConnections: number | undefined;
    timeout: number;
    joinDuplicateHeaders: boolean | undefined;
    requireHostHeader: boolean;
    httpAllowHalfOpen: boolean;
    _number: number;
    _lines: Set<Line>;
    _listening: Listening | null;
    /** The call of `listen` that is about to begin. */
    _begins: object | null;
    _path: string | undefined;
    _options: Options;
    _responsePrototype: object;
    _messagesOf: unknown;
    _strictBodies: boolean;
    /** Whether something is done for each request that servers do not do as a rule (`particular.ts`). */
    _particular: boolean;
    _reffed: boolean;
    /** Times that the engine knows. */
    _told: Times;
    /** Replies whose objects were looked at, and the layouts that are kept. */
    _learned: number;
    _shapes: { requests: Shapes; responses: Shapes; headers: Shapes } | null;
    _connectionEnded(): void;
    _drop(line: Line): void;
    _retime(): void;
    _isRetimed(): boolean;
    _unshaken(remote: string, remotePort: number, local: string, localPort: number, flags: number, code: string, words: string): void;
    listen(...args: unknown[]): this;
    close(callback?: (error?: Error) => void): this;
    address(): unknown;
}

function HttpServer(this: Server | undefined, options?: Options | Listener, listener?: Listener): Server | undefined {
    if (!(this instanceof HttpServer)) return new Server(options, listener);
    (EventEmitter as unknown as (this: unknown) => void).call(this);
    if (typeof options === "function") [listener, options] = [options, {}];
    const given = options ?? {};
    if (typeof given !== "object" || Array.isArray(given)) throw new codes.ERR_INVALID_ARG_TYPE("options", "object", options);
    // Hardly anybody asks for it.
    if (given.http2 === true) (require("../leat/http1_only") as typeof import("../leat/http1_only")).refuseHttp2("http2");
    this._options = given;
    this._lines = new Set();
    this.requestTimeout = time(given.requestTimeout, "requestTimeout", 300_000);
    this.headersTimeout = time(given.headersTimeout, "headersTimeout", Math.min(60_000, this.requestTimeout));
    if (this.requestTimeout > 0 && this.headersTimeout > this.requestTimeout) {
        throw new codes.ERR_OUT_OF_RANGE("headersTimeout", "<= requestTimeout", this.headersTimeout);
    }
    this.keepAliveTimeout = time(given.keepAliveTimeout, "keepAliveTimeout", 5000);
    this.connectionsCheckingInterval = time(given.connectionsCheckingInterval, "connectionsCheckingInterval", 30_000);
    time(given.maxHeaderSize, "maxHeaderSize", 0);
    Object.assign(this, { maxHeaderSize: given.maxHeaderSize, insecureHTTPParser: given.insecureHTTPParser });
    for (const name of ["requireHostHeader", "joinDuplicateHeaders", "rejectNonStandardBodyWrites"] as const) {
        if (given[name] !== undefined && typeof given[name] !== "boolean") throw new codes.ERR_INVALID_ARG_TYPE(`options.${name}`, "boolean", given[name]);
    }
    const delay: unknown = given.keepAliveInitialDelay;
    if (delay !== undefined && typeof delay !== "number") throw new codes.ERR_INVALID_ARG_TYPE("options.keepAliveInitialDelay", "number", delay);
    this.joinDuplicateHeaders = given.joinDuplicateHeaders;
    this.requireHostHeader = given.requireHostHeader !== false;
    this._strictBodies = given.rejectNonStandardBodyWrites === true;
    Object.assign(this, { rejectNonStandardBodyWrites: this._strictBodies });
    this._particular = isParticular(given);
    this._told = { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 };
    this._responsePrototype = (given.ServerResponse ?? ServerResponse).prototype;
    if (listener) this.on("request", listener);
    return undefined;
}

function time(given: unknown, name: string, otherwise: number): number {
    if (given === undefined) return otherwise;
    if (typeof given !== "number") throw new codes.ERR_INVALID_ARG_TYPE(name, "number", given);
    if (!Number.isInteger(given)) throw new codes.ERR_OUT_OF_RANGE(name, "an integer", given);
    if (given < 0) throw new codes.ERR_OUT_OF_RANGE(name, `>= 0 && <= ${Number.MAX_SAFE_INTEGER}`, given);
    return given;
}

/** The constructor of servers, which may be called with or without `new`, and inherited from. */
export const Server = HttpServer as unknown as { new (options?: Options | Listener, listener?: Listener): Server; (options?: Options | Listener, listener?: Listener): Server; prototype: Server };
Object.defineProperty(Server, "name", { value: "Server" });
Object.setPrototypeOf(HttpServer.prototype, EventEmitter.prototype);
Object.setPrototypeOf(HttpServer, EventEmitter);

/** Makes a server; `listener` is called for each request. */
export function createServer(options?: Options | Listener, listener?: Listener): Server {
    return new Server(options, listener);
}

const defaults = {
    listening: false,
    maxHeadersCount: null,
    maxRequestsPerSocket: 0,
    timeout: 0,
    httpAllowHalfOpen: false,
    _number: -1,
    _listening: null,
    allowHalfOpen: true,
    pauseOnConnect: false,
    noDelay: true,
    keepAlive: false,
    keepAliveInitialDelay: 0,
    insecureHTTPParser: undefined,
    maxHeaderSize: undefined,
    rejectNonStandardBodyWrites: false,
    _begins: null,
    _path: undefined,
    _messagesOf: undefined,
    _reffed: true,
    _learned: 0,
    _shapes: null,
};
hide(Server.prototype, defaults);

interface Where {
    host?: string;
    port?: number;
    path?: string;
    fd?: number;
    backlog?: number;
    ipv6Only?: boolean;
    reusePort?: boolean;
    signal?: AbortSignal;
}

function portOf(given: unknown): number {
    const port = typeof given === "string" && given.trim() !== "" ? Number(given) : given;
    if (typeof port !== "number" || port !== port >>> 0 || port > 0xffff) throw new codes.ERR_SOCKET_BAD_PORT("options.port", given, true);
    return port;
}

/** What the arguments of `listen` say. */
function whereOf(args: unknown[]): Where {
    const [first, second, third] = args;
    if (first === null || first === undefined || typeof first === "function") return typeof second === "string" ? { port: 0, host: second } : { port: 0 };
    if (typeof first === "boolean") throw new codes.ERR_INVALID_ARG_VALUE("options", { port: first });
    if (typeof first === "object") {
        const given = first as Where & { _handle?: { fd?: number } };
        if (given.port === undefined && given.path === undefined && given.fd === undefined) {
            throw new codes.ERR_INVALID_ARG_VALUE("options", first, 'must have the property "port" or "path"');
        }
        if (given.port !== undefined && given.port !== null && !["number", "string"].includes(typeof given.port)) throw new codes.ERR_INVALID_ARG_VALUE("options", first);
        const where: Where = { ...given };
        if (given.port !== undefined) where.port = given.port === null ? 0 : portOf(given.port);
        return where;
    }
    const where: Where = typeof first === "string" && !isPort(first) ? { path: first } : { port: portOf(first) };
    const [host, backlog] = typeof second === "string" ? [second, third] : [undefined, second];
    if (host !== undefined) where.host = host;
    if (typeof backlog === "number") where.backlog = backlog;
    return where;
}

function isPort(text: string): boolean {
    return /^\s*\d+\s*$/.test(text) || /^\s*0x[\da-f]+\s*$/i.test(text);
}

const IP = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f:.]*:[\da-f:.]*)$/i;

function isAddress(host: string): boolean {
    // What looks like one may be none.
    return IP.test(host) && (require("../leat/ip") as typeof import("../leat/ip")).isIP(host) !== 0;
}

/** Opens the socket, on every address if none is said. */
function open(server: Server, where: Where): Listening {
    const { _options: given } = server;
    const { request, response } = messagesOf(server);
    server._responsePrototype = response;
    const unique = Array.isArray(given.uniqueHeaders) && given.uniqueHeaders.length > 0 ? new Set(given.uniqueHeaders.map((name) => name.toLowerCase())) : null;
    if (unique !== null) server._responsePrototype = Object.create(response, { _uniqueHeaders: { value: unique, writable: true, configurable: true } }) as object;
    const options: ListenOptions = { ...timesOf(server), maxHeadersCount: FIELDS_MAX };
    for (const name of ["maxHeaderSize", "noDelay", "keepAlive", "keepAliveInitialDelay", "tls"] as const) {
        if (given[name] !== undefined) (options as Record<string, unknown>)[name] = given[name];
    }
    for (const name of ["port", "path", "fd", "backlog", "ipv6Only", "reusePort"] as const) {
        if (where[name] !== undefined) (options as Record<string, unknown>)[name] = where[name];
    }
    if (where.host !== undefined) return http.listen({ ...options, host: where.host }, request, server._responsePrototype, server);
    if (where.port === undefined) return http.listen(options, request, server._responsePrototype, server);
    try {
        return http.listen({ ...options, host: "::" }, request, server._responsePrototype, server);
    } catch (error) {
        const { code } = error as { code?: string };
        if (code !== "EAFNOSUPPORT" && code !== "EADDRNOTAVAIL" && code !== "EINVAL") throw error;
        return http.listen({ ...options, host: "0.0.0.0" }, request, server._responsePrototype, server);
    }
}

/** The server's times as the engine takes them: 0 is none. */
function timesOf(server: Server): Times {
    const { keepAliveTimeout, headersTimeout, requestTimeout } = server;
    server._told = { keepAliveTimeout, headersTimeout, requestTimeout };
    const time = (ms: number): number => (Number.isFinite(ms) && ms > 0 ? ms : 0);
    const idle = time(keepAliveTimeout);
    return { keepAliveTimeout: idle === 0 ? 0 : idle + KEEP_ALIVE_BUFFER_MS, headersTimeout: time(headersTimeout), requestTimeout: time(requestTimeout) };
}

/** The error of a `listen` that failed, as Node's sockets tell it. */
function listenError(error: unknown, where: Where): Error {
    let { code, errno } = error as { code?: string; errno?: number };
    if (code === undefined || code.startsWith("LEAT_")) return error as Error;
    // For a socket in a folder that is not there libuv says what it says for one that may not be written.
    if (where.path !== undefined && code === "ENOENT") [code, errno] = ["EACCES", -13];
    const at = where.path ?? `${where.host ?? "::"}${where.port ? `:${where.port}` : ""}`;
    const texts: Record<string, string> = { EADDRINUSE: "address already in use", EACCES: "permission denied", EADDRNOTAVAIL: "address not available" };
    const told = new Error(`listen ${code}: ${texts[code] ?? (error as Error).message} ${at}`);
    Object.assign(told, { code, errno, syscall: "listen", address: where.path ?? where.host ?? "::" });
    if (where.path !== undefined) Object.assign(told, { port: -1 });
    else if (where.port) Object.assign(told, { port: where.port });
    return told;
}

/** The prototypes of a server's messages: those of its classes, or those of the app that listens. */
function messagesOf(server: Server): { request: object; response: object } {
    const { IncomingMessage: Request, ServerResponse: Reply } = server._options;
    const listener = (server as unknown as { _events?: Record<string, unknown> })._events?.["request"];
    server._messagesOf = listener;
    const app = (listener as { [kMessages]?: { request: object; response: object } } | undefined)?.[kMessages];
    if (app !== undefined && Request === undefined && Reply === undefined) return app;
    return { request: (Request ?? IncomingMessage).prototype, response: (Reply ?? ServerResponse).prototype };
}

const members = {
    listen(this: Server, ...args: unknown[]): Server {
        const callback = args.findLast((one) => typeof one === "function") as Listener | undefined;
        if (this._listening !== null) throw new codes.ERR_SERVER_ALREADY_LISTEN();
        const where = whereOf(args);
        if (callback !== undefined) this.once("listening", callback);
        const { host, signal } = where;
        if (signal !== undefined) {
            if (signal.aborted) process.nextTick(() => this.close());
            else signal.addEventListener("abort", () => this.close(), { once: true });
        }
        if (host !== undefined && host !== "" && !isAddress(host)) {
            if (host !== "localhost") {
                const { lookup } = require("node:dns") as { lookup(host: string, done: (error: Error | null, address: string) => void): void };
                lookup(host, (error, address) => {
                    if (error) this.emit("error", error);
                    else begin(this, { ...where, host: address });
                });
                return this;
            }
            where.host = "127.0.0.1";
        } else if (host === "") {
            delete where.host;
        }
        if (where.host === undefined) {
            begin(this, where);
            return this;
        }
        // With a host it takes a turn, as a name would.
        const begins = (this._begins = {});
        process.nextTick(() => {
            if (this._begins === begins) begin(this, where);
        });
        return this;
    },

    address(this: Server): unknown {
        const listening = this._listening;
        if (listening === null || listening.address === undefined) return this._path ?? null;
        return { address: listening.address, family: listening.family, port: listening.port };
    },

    close(this: Server, callback?: (error?: Error) => void): Server {
        this._begins = null;
        if (this._listening === null) {
            if (callback) this.once("close", () => callback(new codes.ERR_SERVER_NOT_RUNNING()));
            process.nextTick(() => {
                if (this._listening === null && this._lines.size === 0) this.emit("close");
            });
            return this;
        }
        if (callback) this.once("close", callback as Listener);
        this._listening = null;
        this.listening = false;
        http.close(this._number);
        (this as unknown as { closeIdleConnections(): void }).closeIdleConnections();
        this._connectionEnded();
        return this;
    },

    closeAllConnections(this: Server): void {
        for (const line of this._lines) {
            // One that was taken over is the program's.
            const socket = line.socketOf();
            if (!socket._opaque || socket._faulty) socket.destroy();
        }
    },

    closeIdleConnections(this: Server): void {
        const serving = http.serving();
        for (const line of this._lines) {
            // One that has not sent a request yet is waited for, and so is one whose handler runs.
            if (line.requests === 0 || line.id === serving || line.current !== null || line.ending || line.socket?._opaque === true) continue;
            line.ending = true;
            if (line.socket !== null) line.socket.destroy();
            http.closeConnection(line.id);
            line.leave();
        }
    },

    getConnections(this: Server, callback: (error: Error | null, count: number) => void): Server {
        process.nextTick(callback, null, this._lines.size);
        return this;
    },

    setTimeout(this: Server, ms: number, callback?: Listener): Server {
        this.timeout = ms;
        if (callback) this.on("timeout", callback);
        return this;
    },

    ref(this: Server): Server {
        this._reffed = true;
        if (this._listening !== null) http.hold(this._number, true);
        return this;
    },

    unref(this: Server): Server {
        this._reffed = false;
        if (this._listening !== null) http.hold(this._number, false);
        return this;
    },

    async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")](this: Server): Promise<void> {
        await new Promise<void>((resolve, reject) => void this.close((error) => (error ? reject(error) : resolve())));
    },

    _connectionEnded(this: Server): void {
        if (this._listening !== null || this._number < 0 || this._lines.size > 0) return;
        const number = this._number;
        this._number = -1;
        servers.delete(number);
        http.forget(number);
        process.nextTick(() => this.emit("close"));
    },

    /** One connection too many. */
    _drop(this: Server, line: Line): void {
        const { remoteAddress, remotePort, remoteFamily, localAddress, localPort, localFamily } = line.socketOf();
        line.socketOf().destroy();
        this.emit("drop", (line.flags & UNIX) !== 0 ? undefined : { localAddress, localPort, localFamily, remoteAddress, remotePort, remoteFamily });
    },

    /** Tells the engine of times that the program has changed since. */
    _retime(this: Server): void {
        if (this._number >= 0 && this._isRetimed()) http.settings(this._number, timesOf(this));
    },

    _isRetimed(this: Server): boolean {
        const { keepAliveTimeout, headersTimeout, requestTimeout } = this._told;
        return keepAliveTimeout !== this.keepAliveTimeout || headersTimeout !== this.headersTimeout || requestTimeout !== this.requestTimeout;
    },

    /** A TLS handshake failed. Its socket is there for who wants to know where it came from, and is destroyed. */
    _unshaken(this: Server, remote: string, remotePort: number, local: string, localPort: number, flags: number, code: string, words: string): void {
        const line = new Line(-1, this, remote, remotePort, local, localPort, flags & (IPV6 | UNIX), { version: "", cipher: "", serverName: "", alpn: "" });
        line.closed = true;
        const socket = line.socketOf();
        socket.destroy();
        this.emit("tlsClientError", secure().handshakeError(code, words), socket);
    },

    /** A listener that is asynchronous failed, and `captureRejections` is on. */
    [Symbol.for("nodejs.rejection")](this: Server, error: unknown, event: string, ...args: unknown[]): void {
        if (event !== "request") {
            this.emit("error", error);
            return;
        }
        const res = args[1] as ServerResponse;
        if (res._header !== null || res.finished) {
            res.destroy();
            return;
        }
        for (const name of (res as unknown as { getHeaderNames(): string[] }).getHeaderNames()) res.removeHeader(name);
        res.statusCode = 500;
        res.end(STATUS_CODES[500]);
    },
};
hide(Server.prototype, members);

/** Loaded with the first server that speaks TLS. */
const secure = (): typeof import("../leat/tls_server") => require("../leat/tls_server") as typeof import("../leat/tls_server");

function begin(server: Server, where: Where): void {
    let listening: Listening;
    server._path = where.path;
    try {
        listening = open(server, where);
    } catch (error) {
        const told = listenError(error, where);
        process.nextTick(() => server.emit("error", told));
        return;
    }
    server._listening = listening;
    server._particular = isParticular(server._options);
    server._number = listening.server;
    server.listening = true;
    servers.set(listening.server, server);
    if (!server._reffed) http.hold(server._number, false);
    process.nextTick(() => {
        if (server._listening === listening) server.emit("listening");
    });
    // What the program sets right behind `listen`, in a listener of 'listening', or behind an `await` of that: ticks come before microtasks.
    process.nextTick(() => void Promise.resolve().then(() => { server._retime(); }));
}

export { lines };
