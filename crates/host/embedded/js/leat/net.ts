// Sockets and servers of `node:net`, over TCP and over sockets of the file system.
import { EventEmitter } from "node:events";
import { Duplex, type DuplexOptions } from "node:stream";
import { codedError, invalidType, invalidValue } from "./coded";
import { codes } from "./errors";
import { isIP } from "./ip";
import { validateFunction, validateNumber, validatePort } from "./validate";

type Told<T> = (error: Error | null, value: T) => void;
type Place = [string, number, string];
interface Connection {
    read(told: Told<ArrayBuffer | undefined>): void;
    write(bytes: Uint8Array, told: Told<void>): void;
    shutdown(): void;
    close(): void;
    reset(): void;
    setNoDelay(on: boolean): void;
    setKeepAlive(on: boolean, seconds: number): void;
    local(): Place | undefined;
    remote(): Place | undefined;
    hold(holds: boolean): void;
}
interface Listening {
    accept(told: Told<Connection | undefined>): void;
    address(): Place | undefined;
    close(): void;
    hold(holds: boolean): void;
}
interface Native {
    connect(to: string, port: number, from: string, fromPort: number, told: Told<Connection>): void;
    listen(at: string, port: number, backlog: number): Listening;
}
const lib = native("net") as Native;

type Listener = (...given: never[]) => void;
type Failed = Error & { code?: string; errno?: number; syscall?: string; address?: string; port?: number };
type Lookup = (name: string, options: object, told: (error: Error | null, found: { address: string; family: number }[] | string, family?: number) => void) => void;
export interface SocketOptions extends DuplexOptions {
    host?: string;
    port?: number | string;
    path?: string;
    family?: number;
    localAddress?: string;
    localPort?: number;
    lookup?: Lookup;
    noDelay?: boolean;
    keepAlive?: boolean;
    keepAliveInitialDelay?: number;
    timeout?: number;
    onread?: unknown;
    fd?: number;
    autoSelectFamily?: boolean;
}

/** `connect(options)`, `connect(port, host)`, `connect(path)`, each with a listener. */
export function normalize(given: unknown[]): [SocketOptions, Listener | undefined] {
    const rest = [...given];
    const last = rest.at(-1);
    const listener = typeof last === "function" ? (rest.pop() as Listener) : undefined;
    const [first, second] = rest;
    if (typeof first === "object" && first !== null) return [first as SocketOptions, listener];
    if (typeof first === "string" && !/^\d+$/.test(first)) return [{ path: first }, listener];
    return [{ ...(first === undefined ? {} : { port: first as number }), ...(typeof second === "string" ? { host: second } : {}) }, listener];
}

export class Socket extends Duplex {
    connecting = false;
    bytesRead = 0;
    timeout = 0;
    autoSelectFamilyAttemptedAddresses: string[] | undefined;
    server: unknown = null;
    _host: string | null = null;
    #connection: Connection | undefined;
    #dispatched = 0;
    #timer: ReturnType<typeof setTimeout> | undefined;
    #reading = false;
    #waits: (() => void)[] = [];
    #holds = true;
    #settings: ((connection: Connection) => void)[] = [];
    #local: Place | undefined;
    #remote: Place | undefined;
    #resets = false;

    constructor(options: SocketOptions = {}, connection?: Connection) {
        if (options.fd !== undefined) throw codedError("ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "leat run has no net.Socket over a file descriptor");
        super({ ...options, allowHalfOpen: options.allowHalfOpen ?? false, autoDestroy: true, emitClose: false, decodeStrings: true });
        if (connection !== undefined) this.#opened(connection);
        this.on("end", () => {
            // What is written after the peer's end is lost, unless half-open sockets were asked for.
            if (!this.allowHalfOpen) this.write = afterEnd as typeof this.write;
        });
    }

    connect(...given: unknown[]): this {
        const [options, listener] = normalize(given);
        if (listener !== undefined) this.once("connect", listener as () => void);
        if (options.path === undefined) {
            if (options.port === undefined) throw new codes.ERR_MISSING_ARGS(["options", "port", "path"]);
            validatePort(options.port, "Port");
        }
        this.connecting = true;
        if (options.noDelay) this.setNoDelay(true);
        if (options.keepAlive) this.setKeepAlive(true, options.keepAliveInitialDelay);
        if (options.timeout) this.setTimeout(options.timeout);
        if (options.path !== undefined) {
            this.#try([options.path], -1, options, []);
            return this;
        }
        const host = options.host || "localhost";
        const port = Number(options.port);
        if (isIP(host)) {
            // Listeners that are added after this call hear of it too.
            this.#try([host], port, options, []);
            return this;
        }
        this._host = host;
        const lookup = options.lookup ?? ((require("node:dns") as { lookup: unknown }).lookup as Lookup);
        if (options.lookup !== undefined) validateFunction(options.lookup, "options.lookup");
        lookup(host, { family: options.family ?? 0, hints: 0, all: true }, (error, found, family) => {
            const all = Array.isArray(found) ? found : [{ address: found, family: family ?? 4 }];
            for (const one of error ? [{ address: undefined, family: undefined }] : all) this.emit("lookup", error, one.address, one.family, host);
            if (this.destroyed) return;
            if (error) return void process.nextTick(() => this.#refused(error));
            this.#try(all.map(({ address }) => address), port, options, []);
        });
        return this;
    }

    #try([address = "", ...others]: string[], port: number, options: SocketOptions, errors: Failed[]): void {
        lib.connect(address, port, options.localAddress ?? "", options.localPort ?? 0, (error, connection) => {
            if (!error) {
                if (this.destroyed) return connection.close();
                this.#opened(connection);
                this.emit("connect");
                this.emit("ready");
                return;
            }
            if (this.destroyed) return;
            const failed = error as Failed;
            failed.address = address;
            if (port >= 0) {
                failed.port = port;
                failed.message = `${failed.message} ${address}:${port}`;
            }
            const all = [...errors, failed];
            if (others.length > 0) return this.#try(others, port, options, all);
            this.#refused(all.length > 1 ? together(all) : failed);
        });
    }

    #refused(error: Error): void {
        this.connecting = false;
        this.destroy(error);
    }

    #opened(connection: Connection): void {
        this.#connection = connection;
        this.connecting = false;
        this.#local = connection.local();
        this.#remote = connection.remote();
        for (const set of this.#settings.splice(0)) set(connection);
        if (!this.#holds) connection.hold(false);
        this.#active();
        for (const wait of this.#waits.splice(0)) wait();
    }

    override _read(): void {
        if (this.connecting) return void this.#waits.push(() => this._read());
        const connection = this.#connection;
        if (connection === undefined || this.#reading) return;
        this.#reading = true;
        connection.read((error, memory) => {
            this.#reading = false;
            if (this.destroyed) return;
            if (error) return void this.destroy(error);
            if (memory === undefined) {
                this.push(null);
                // Nobody may read a socket that has nothing; its end is noticed all the same.
                if (this.readableLength === 0) this.read(0);
                return;
            }
            this.bytesRead += memory.byteLength;
            this.#active();
            if (this.push(Buffer.from(memory))) this._read();
        });
    }

    override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
        if (this.connecting) return void this.#waits.push(() => this._write(chunk, _encoding, done));
        const connection = this.#connection;
        if (connection === undefined) return done(new codes.ERR_SOCKET_CLOSED());
        this.#dispatched += chunk.byteLength;
        this.#active();
        connection.write(chunk, (error) => {
            if (!error) this.#active();
            done(error);
        });
    }

    override _writev(chunks: { chunk: Uint8Array | string; encoding: BufferEncoding }[], done: (error?: Error | null) => void): void {
        this._write(Buffer.concat(chunks.map(({ chunk, encoding }) => (typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk))), "buffer", done);
    }

    override _final(done: (error?: Error | null) => void): void {
        if (this.connecting) return void this.#waits.push(() => this._final(done));
        this.#connection?.shutdown();
        done();
    }

    override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
        clearTimeout(this.#timer);
        this.connecting = false;
        if (this.#resets) this.#connection?.reset();
        else this.#connection?.close();
        this.#connection = undefined;
        const waits = this.#waits.splice(0);
        done(error);
        for (const wait of waits) wait();
        process.nextTick(() => {
            this.emit("close", error !== null && error !== undefined);
        });
        const server = this.server as Server | null;
        if (server !== null) server._left(this);
    }

    destroySoon(): void {
        if (this.writable) this.end();
        if (this.writableFinished) this.destroy();
        else this.once("finish", () => this.destroy());
    }

    resetAndDestroy(): this {
        this.#resets = true;
        if (this.connecting) this.once("connect", () => this.destroy());
        else this.destroy(this.#connection === undefined ? new codes.ERR_SOCKET_CLOSED() : undefined);
        return this;
    }

    #active(): void {
        if (this.timeout === 0) return;
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.emit("timeout"), this.timeout);
        this.#timer.unref();
    }

    setTimeout(ms: number, listener?: () => void): this {
        validateNumber(ms, "msecs", 0);
        this.timeout = ms;
        clearTimeout(this.#timer);
        if (listener !== undefined) {
            validateFunction(listener, "callback");
            if (ms === 0) this.removeListener("timeout", listener);
            else this.once("timeout", listener);
        }
        this.#active();
        return this;
    }

    #set(set: (connection: Connection) => void): this {
        if (this.#connection !== undefined) set(this.#connection);
        else this.#settings.push(set);
        return this;
    }
    setNoDelay(on: boolean = true): this {
        return this.#set((connection) => connection.setNoDelay(on !== false));
    }
    setKeepAlive(on?: boolean, delayMs = 0): this {
        return this.#set((connection) => connection.setKeepAlive(Boolean(on), Math.floor(delayMs / 1000)));
    }
    ref(): this {
        this.#holds = true;
        this.#connection?.hold(true);
        return this;
    }
    unref(): this {
        this.#holds = false;
        this.#connection?.hold(false);
        return this;
    }

    address(): object {
        return this.#local === undefined ? {} : { address: this.#local[0], family: this.#local[2], port: this.#local[1] };
    }
    get pending(): boolean {
        return this.#connection === undefined || this.connecting;
    }
    get readyState(): string {
        if (this.connecting) return "opening";
        if (this.readable && this.writable) return "open";
        return this.readable ? "readOnly" : this.writable ? "writeOnly" : "closed";
    }
    get bytesWritten(): number {
        return this.#dispatched + this.writableLength;
    }
    get bufferSize(): number {
        return this.writableLength;
    }
    get remoteAddress(): string | undefined {
        return this.#remote?.[0];
    }
    get remotePort(): number | undefined {
        return this.#remote?.[1];
    }
    get remoteFamily(): string | undefined {
        return this.#remote?.[2];
    }
    get localAddress(): string | undefined {
        return this.#local?.[0];
    }
    get localPort(): number | undefined {
        return this.#local?.[1];
    }
    get localFamily(): string | undefined {
        return this.#local?.[2];
    }
}

function together(errors: Failed[]): Error {
    const all = new AggregateError(errors) as AggregateError & { code?: string | undefined };
    all.code = errors[0]?.code;
    return all;
}

function afterEnd(this: Socket, _chunk: unknown, encoding?: unknown, done?: unknown): boolean {
    const told = typeof encoding === "function" ? encoding : done;
    const error = codedError("EPIPE", "This socket has been ended by the other party");
    if (typeof told === "function") process.nextTick(told as () => void, error);
    this.destroy(error);
    return false;
}

interface ServerOptions {
    allowHalfOpen?: boolean;
    pauseOnConnect?: boolean;
    noDelay?: boolean;
    keepAlive?: boolean;
    keepAliveInitialDelay?: number;
    highWaterMark?: number;
}

const BACKLOG = 511;

export class Server extends EventEmitter {
    allowHalfOpen: boolean;
    pauseOnConnect: boolean;
    maxConnections: number | undefined;
    #options: ServerOptions;
    #listening: Listening | undefined;
    #path: string | undefined;
    #sockets = new Set<Socket>();
    #closing = false;
    #holds = true;

    constructor(options?: ServerOptions | Listener, listener?: Listener) {
        super();
        if (typeof options === "function") [listener, options] = [options, {}];
        else if (options !== undefined && options !== null && typeof options !== "object") throw invalidType("options", "of type object", options);
        this.#options = options ?? {};
        this.allowHalfOpen = this.#options.allowHalfOpen ?? false;
        this.pauseOnConnect = this.#options.pauseOnConnect ?? false;
        if (listener !== undefined) {
            validateFunction(listener, "connectionListener");
            this.on("connection", listener as () => void);
        }
    }

    get listening(): boolean {
        return this.#listening !== undefined;
    }
    get _connections(): number {
        return this.#sockets.size;
    }

    listen(...given: unknown[]): this {
        const [options, listener] = normalize(given) as [SocketOptions & { backlog?: number; exclusive?: boolean }, Listener | undefined];
        if (this.#listening !== undefined) throw new codes.ERR_SERVER_ALREADY_LISTEN();
        const numbers = given.filter((value) => typeof value === "number");
        const backlog = options.backlog ?? (numbers.length > 1 ? (numbers[1] as number) : BACKLOG);
        if (options.path === undefined && options.port === undefined && given.length > 0 && typeof given[0] === "object" && given[0] !== null) {
            throw invalidValue("options", options, 'must have the property "port" or "path"');
        }
        if (options.path === undefined) validatePort(options.port ?? 0, "options.port");
        if (listener !== undefined) this.once("listening", listener as () => void);
        const begin = (host: string): void => {
            try {
                this.#listening = lib.listen(options.path ?? host, options.path === undefined ? Number(options.port ?? 0) : -1, backlog);
            } catch (error) {
                const failed = error as Failed;
                const { code = "" } = failed;
                const text = code === "EADDRINUSE" ? "address already in use" : code === "EACCES" ? "permission denied" : code === "EADDRNOTAVAIL" ? "address not available" : "";
                failed.message = `listen ${code}${text === "" ? "" : `: ${text}`} ${options.path ?? `${host}:${options.port ?? 0}`}`;
                failed.address = options.path ?? host;
                if (options.path === undefined) failed.port = Number(options.port ?? 0);
                return void process.nextTick(() => this.emit("error", failed));
            }
            this.#path = options.path;
            this.#closing = false;
            if (!this.#holds) this.#listening.hold(false);
            process.nextTick(() => {
                if (this.#listening !== undefined) this.emit("listening");
            });
            this.#accept(this.#listening);
        };
        const host = options.host ?? "::";
        if (options.path !== undefined || isIP(host)) begin(host);
        else {
            const { lookup } = require("node:dns") as { lookup: (name: string, told: (error: Error | null, address: string) => void) => void };
            lookup(host, (error, address) => (error ? this.emit("error", error) : begin(address)));
        }
        return this;
    }

    #accept(listening: Listening): void {
        listening.accept((error, connection) => {
            if (this.#listening !== listening) return void connection?.close();
            this.#accept(listening);
            if (error || connection === undefined) return;
            if (this.maxConnections !== undefined && this.#sockets.size >= this.maxConnections) {
                const [local, remote] = [connection.local(), connection.remote()];
                connection.close();
                this.emit("drop", { localAddress: local?.[0], localPort: local?.[1], localFamily: local?.[2], remoteAddress: remote?.[0], remotePort: remote?.[1], remoteFamily: remote?.[2] });
                return;
            }
            const { highWaterMark, noDelay, keepAlive, keepAliveInitialDelay } = this.#options;
            const socket = new Socket({ allowHalfOpen: this.allowHalfOpen, ...(highWaterMark === undefined ? {} : { highWaterMark }) }, connection);
            socket.server = this;
            this.#sockets.add(socket);
            if (noDelay) socket.setNoDelay(true);
            if (keepAlive) socket.setKeepAlive(true, keepAliveInitialDelay);
            if (this.pauseOnConnect) socket.pause();
            this.emit("connection", socket);
            if (!this.pauseOnConnect) socket.read(0);
        });
    }

    /** A socket of this server has closed. */
    _left(socket: Socket): void {
        this.#sockets.delete(socket);
        this.#closed();
    }

    #closed(): void {
        if (!this.#closing || this.#listening !== undefined || this.#sockets.size > 0) return;
        this.#closing = false;
        process.nextTick(() => this.emit("close"));
    }

    close(listener?: (error?: Error) => void): this {
        if (listener !== undefined) {
            if (this.#listening === undefined) this.once("close", () => listener(new codes.ERR_SERVER_NOT_RUNNING()));
            else this.once("close", listener);
        }
        this.#listening?.close();
        this.#listening = undefined;
        this.#closing = true;
        if (this.#path !== undefined) (require("node:fs") as typeof import("node:fs")).rmSync(this.#path, { force: true });
        this.#path = undefined;
        this.#closed();
        return this;
    }

    address(): object | string | null {
        if (this.#path !== undefined) return this.#path;
        const place = this.#listening?.address();
        return place === undefined ? null : { address: place[0], family: place[2], port: place[1] };
    }

    getConnections(told: (error: Error | null, count: number) => void): this {
        process.nextTick(told, null, this.#sockets.size);
        return this;
    }
    ref(): this {
        this.#holds = true;
        this.#listening?.hold(true);
        return this;
    }
    unref(): this {
        this.#holds = false;
        this.#listening?.hold(false);
        return this;
    }
    async [Symbol.for("nodejs.asyncDispose")](): Promise<void> {
        await new Promise<void>((resolve) => this.close(() => resolve()));
    }
}
