// Requests of node:http and node:https: ClientRequest and its response over native exchanges, whose pools are those of fetch.
import { OutgoingMessage } from "../http";
import { codes } from "./errors";
import { Agent, globalAgent, secureGlobalAgent, type AgentOptions } from "./agent";
import { errorOf, hangUp, unsupported } from "./client_error";
import { ClientMessage } from "./client_message";
import { normalised, type RequestOptions } from "./client_options";
import { ClientSocket } from "./client_socket";
import { Told, abort, end, start, write, type Asked } from "../web/exchange";

type Callback = (error?: Error | null) => void;
/** `OutgoingMessage` as a class that can be extended. */
const Outgoing = OutgoingMessage as unknown as new () => InstanceType<typeof OutgoingMessage> & {
    setHeaders(headers: unknown): void;
    flushHeaders(): void;
};

const NO_BODY = ["GET", "HEAD", "DELETE", "OPTIONS", "TRACE", "CONNECT"];
/** Bytes that `write` takes before it says that it is enough, as Node's. */
const HIGH_WATER_MARK = 16 * 1024;
/** What would be ignored silently otherwise. */
const UNSUPPORTED = ["cert", "key", "pfx", "crl", "checkServerIdentity", "secureContext", "localAddress", "lookup", "createConnection"];

export class ClientRequest extends Outgoing {
    method: string;
    path: string;
    host: string;
    protocol: string;
    agent: Agent | undefined;
    res: ClientMessage | null = null;
    aborted = false;
    timeout: number | undefined;
    reusedSocket = false;
    maxHeadersCount: number | null = null;
    parser: null = null;
    timeoutCb: (() => void) | null = null;
    #asked: Asked;
    #name: string;
    #id: number | undefined;
    #socket: ClientSocket | undefined;
    #hasSocket = false;
    #admitted: (() => void) | undefined;
    #isAdmitted = false;
    /** What was written before the exchange could begin. */
    #early: (Uint8Array | string)[] = [];
    #isEarlyEnd = false;
    #waiting = 0;
    #needsDrain = false;
    #isFinished = false;
    #isOver = false;
    /** How a request ends that was destroyed before it had a socket: told when it would have got it. */
    #tellLater: (() => void) | undefined;

    constructor(input: unknown, given?: unknown, listener?: unknown) {
        super();
        const { options, callback } = normalised(input, given, listener);
        const agent = options.agent;
        const usual = options["_isSecure"] === true ? secureGlobalAgent : globalAgent;
        if (agent === false) this.agent = new (usual.constructor as typeof Agent)();
        else if (agent === null || agent === undefined) this.agent = usual;
        else if (agent instanceof Agent) this.agent = agent;
        else if (typeof (agent as unknown as { addRequest?: unknown }).addRequest === "function") throw unsupported("agents that make connections themselves");
        else throw new codes.ERR_INVALID_ARG_TYPE("options.agent", ["Agent-like Object", "undefined", "false"], agent);
        const mine: AgentOptions = this.agent.options;
        if (this.agent.createConnection !== Agent.prototype.createConnection || typeof (this.agent as { addRequest?: unknown }).addRequest === "function") {
            throw unsupported("agents that make connections themselves");
        }
        const protocol = options.protocol || usual.protocol;
        const expected = this.agent.protocol;
        if (protocol !== expected) throw new codes.ERR_INVALID_PROTOCOL(protocol, expected);
        const path = options.path === undefined || options.path === null || options.path === "" ? "/" : String(options.path);
        if (/[^\u0021-\u00ff]/.test(path)) throw new codes.ERR_UNESCAPED_CHARACTERS("Request path");
        for (const name of ["hostname", "host"] as const) {
            const value = options[name];
            if (value !== undefined && value !== null && typeof value !== "string") {
                throw new codes.ERR_INVALID_ARG_TYPE(`options.${name}`, ["string", "undefined", "null"], value);
            }
        }
        for (const name of UNSUPPORTED) {
            const value = options[name] ?? mine[name];
            if (value !== undefined && value !== null) throw unsupported(`the option ${name}`);
        }
        const isTLS = protocol === "https:";
        if (isTLS && (options.rejectUnauthorized ?? mine["rejectUnauthorized"]) === false) {
            throw unsupported("the option rejectUnauthorized: false (give the certificate's authority as the option ca instead)");
        }
        const defaultPort = Number(options.defaultPort || this.agent.defaultPort);
        const port = Number(options.port || defaultPort);
        if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new codes.ERR_SOCKET_BAD_PORT("Port", options.port, true);
        const host = options.hostname || options.host || "localhost";
        const method = options.method;
        if (method !== undefined && method !== null && typeof method !== "string") throw new codes.ERR_INVALID_ARG_TYPE("options.method", "string", method);
        if (method && !/^[\^_`a-zA-Z\-0-9!#$%&'*+.|~]+$/.test(method)) throw new codes.ERR_INVALID_HTTP_TOKEN("Method", method);
        this.method = method ? method.toUpperCase() : "GET";
        this.path = path;
        this.host = host;
        this.protocol = protocol;
        this.useChunkedEncodingByDefault = !NO_BODY.includes(this.method);
        this.shouldKeepAlive = this.agent.keepAlive;
        const ca = options.ca ?? mine["ca"];
        const socketPath = options.socketPath;
        const bare = host.replace(/^\[|\]$/g, "");
        this.#asked = {
            isTLS,
            host: socketPath ? String(socketPath) : bare,
            port,
            isUnix: Boolean(socketPath),
            serverName: isTLS ? ((options.servername as string | undefined) || (socketPath ? bare : undefined)) : undefined,
            authorities: ca === undefined ? undefined : (Array.isArray(ca) ? ca : [ca]).map(String).join("\n"),
            method: this.method,
            path,
            fields: [],
            length: -2,
            inflates: false,
            headMs: 0,
            idleMs: 0,
        };
        this.#name = this.agent.getName({ host, port, ...(socketPath ? { socketPath: String(socketPath) } : {}) });
        if (callback !== undefined) this.once("response", callback);
        this.#setHeaders(options, host, port, defaultPort);
        const ms = options.timeout ?? (this.agent === usual ? undefined : mine.timeout);
        if (ms !== undefined) {
            this.timeout = Number(ms);
            if (Number(ms) > 0) this.setTimeout(Number(ms));
        }
        const { signal } = options;
        if (signal !== undefined) this.#follow(signal);
        process.nextTick(() => this.#offerSocket());
    }

    #setHeaders(options: RequestOptions, host: string, port: number, defaultPort: number): void {
        const { headers } = options;
        if (Array.isArray(headers)) {
            // As given: duplicates and case stay.
            const pairs = Array.isArray(headers[0]) ? (headers as unknown[][]).flat() : headers;
            for (let at = 0; at < pairs.length; at += 2) this.#append(String(pairs[at]), pairs[at + 1]);
        } else if (headers !== undefined && headers !== null) {
            for (const name of Object.keys(headers)) this.setHeader(name, (headers as Record<string, unknown>)[name]);
        }
        const hosts = this.getHeader("host") === undefined && options.setHost !== false;
        if (hosts) {
            const literal = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
            this.setHeader("Host", port === defaultPort ? literal : `${literal}:${port}`);
        }
        if (options.auth && this.getHeader("authorization") === undefined) {
            this.setHeader("Authorization", `Basic ${Buffer.from(options.auth).toString("base64")}`);
        }
        // Who asks before it sends, sends its head at once.
        if (this.getHeader("expect") !== undefined) process.nextTick(() => this.#isOver || this.flushHeaders());
    }
    #append(name: string, value: unknown): void {
        const before = this.getHeader(name);
        this.setHeader(name, before === undefined ? value : [before, value].flat());
    }
    #follow(signal: AbortSignal): void {
        const stop = (): void => {
            const error = Object.assign(new Error("The operation was aborted", { cause: signal.reason }), { code: "ABORT_ERR" });
            error.name = "AbortError";
            this.destroy(error);
        };
        if (signal.aborted) process.nextTick(stop);
        else {
            signal.addEventListener("abort", stop, { once: true });
            this.once("close", () => signal.removeEventListener("abort", stop));
        }
    }

    get socket(): ClientSocket | null {
        if (!this.#hasSocket) return null;
        if (this.#socket === undefined) {
            this.#socket = new ClientSocket(this.#asked);
            this.#socket._httpMessage = this;
            this.#socket.on("timeout", () => this.emit("timeout"));
        }
        return this.#socket;
    }
    get connection(): ClientSocket | null {
        return this.socket;
    }
    #offerSocket(): void {
        if (this.#tellLater !== undefined) {
            this.#tellLater();
            this.#tellLater = undefined;
        }
        if (this.#isOver || this.#hasSocket) return;
        this.#hasSocket = true;
        if (this.timeout !== undefined && this.timeout > 0) (this.socket as ClientSocket).setTimeout(this.timeout);
        if (this.listenerCount("socket") > 0) this.emit("socket", this.socket);
    }

    _implicitHeader(): void {
        this._storeHeader(`${this.method} ${this.path} HTTP/1.1\r\n`, this._headers);
    }
    /** Sends the head, if it was not sent. */
    _send(): void {
        this.#begin();
    }

    #begin(): void {
        if (this.#isAdmitted || this.#admitted !== undefined || this.#isOver) return;
        const admitted = (): void => {
            this.#admitted = undefined;
            this.#isAdmitted = true;
            this.#start();
        };
        this.#admitted = admitted;
        (this.agent as Agent)._admit(this.#name, admitted);
    }
    #start(): void {
        const asked = this.#asked;
        asked.fields = [];
        for (const line of (this._header as string).split("\r\n").slice(1)) {
            const colon = line.indexOf(":");
            const name = line.slice(0, colon);
            if (colon > 0 && name.toLowerCase() !== "transfer-encoding") asked.fields.push(name, line.slice(colon + 2));
        }
        const wrote = this.#early.length > 0 || !this.#isEarlyEnd;
        if (this.chunkedEncoding) asked.length = -1;
        else if (typeof this._contentLength === "number" && (this._contentLength > 0 || this.getHeader("content-length") !== undefined || this.useChunkedEncodingByDefault)) asked.length = this._contentLength;
        // A body of a method that has none: its end has to be seen by the server.
        else asked.length = wrote && !this.#isUpgrade() && this.#early.length > 0 ? -1 : -2;
        try {
            this.#id = start(asked, (told, ...rest) => this.#told(told, rest));
        } catch (error) {
            process.nextTick(() => this.#fail(error as Error));
            return;
        }
        this._headerSent = true;
        for (const chunk of this.#early) write(this.#id, chunk);
        this.#early = [];
        if (this.#isEarlyEnd || (asked.length === -2 && this.#isUpgrade())) end(this.#id);
    }
    #isUpgrade(): boolean {
        return this.method === "CONNECT" || this.getHeader("upgrade") !== undefined;
    }

    #told(told: Told, rest: unknown[]): boolean {
        if (this.#isOver && this.res === null) return false;
        this.#socket?._active();
        switch (told) {
            case Told.Connected:
                this.reusedSocket = rest[0] as boolean;
                this.#offerSocket();
                this.#socket?._connected();
                return false;
            case Told.Interim:
                this.#interim(rest[0] as number, rest[1] as string, rest[2] as string[], rest[3] as number);
                return false;
            case Told.Response:
                return this.#response(rest[0] as number, rest[1] as string, rest[2] as string[], rest[3] as number, rest[4] as boolean);
            case Told.Data: {
                const bytes = rest[0] as Uint8Array;
                const chunk = Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
                if (this.upgraded) return this.#socket?._data(chunk) ?? false;
                return this.res?.push(chunk) ?? false;
            }
            case Told.End:
                this.#ended(rest[0] as string[]);
                return false;
            case Told.Drained:
                this.#waiting = 0;
                this.#socket?._drained();
                if (this.#needsDrain) {
                    this.#needsDrain = false;
                    this.emit("drain");
                }
                return false;
            case Told.Sent:
                if (this.finished && !this.#isFinished) this.#finish();
                return false;
            case Told.Failed:
                this.#failed(rest[0] as string, rest[1] as string);
                return false;
        }
    }
    #finish(): void {
        this.#isFinished = true;
        this.#waiting = 0;
        this.emit("finish");
    }
    #interim(status: number, reason: string, fields: string[], minor: number): void {
        if (status === 100) this.emit("continue");
        const { headers, rawHeaders } = new ClientMessage(this.#id as number, this, status, reason, fields, minor);
        this.emit("information", { statusCode: status, statusMessage: reason, httpVersion: `1.${minor}`, httpVersionMajor: 1, httpVersionMinor: minor, headers, rawHeaders });
    }
    upgraded = false;
    #response(status: number, reason: string, fields: string[], minor: number, isTunnel: boolean): boolean {
        this.#offerSocket();
        const res = new ClientMessage(this.#id as number, this, status, reason, fields, minor);
        this.res = res;
        if (isTunnel) {
            const event = this.method === "CONNECT" ? "connect" : "upgrade";
            const socket = this.socket as ClientSocket;
            this.upgraded = true;
            res.upgrade = true;
            res.complete = true;
            socket._httpMessage = null;
            socket.setTimeout(0);
            socket._open(this.#id as number);
            if (this.listenerCount(event) === 0) {
                this.destroy();
                return false;
            }
            this.#isFinished = true;
            this.destroyed = true;
            this.emit(event, res, socket, Buffer.alloc(0));
            this.#release();
            this._closed = true;
            this.emit("close");
            return true;
        }
        if (this.aborted || this.#isOver) return false;
        if (this.listenerCount("response") === 0) {
            res._dump();
            return true;
        }
        this.emit("response", res);
        return false;
    }
    #ended(trailers: string[]): void {
        if (this.upgraded) {
            this.#socket?.push(null);
            return;
        }
        const { res } = this;
        if (res === null) return;
        res.complete = true;
        if (trailers.length > 0) res.rawTrailers = trailers;
        res.once("end", () => this.#done());
        res.push(null);
    }
    /** The response was read: the connection is free, whatever became of the rest of the request. */
    #done(): void {
        if (this.#isOver) return;
        this.#isOver = true;
        this.destroyed = true;
        this.#socket?._close();
        this.#release();
        process.nextTick(() => {
            if (!this.#isFinished && this.finished) this.#finish();
            this._closed = true;
            this.emit("close");
        });
    }
    #release(): void {
        const agent = this.agent as Agent;
        if (this.#admitted !== undefined) agent._leave(this.#name, this.#admitted);
        this.#admitted = undefined;
        if (this.#isAdmitted) agent._done(this.#name);
        this.#isAdmitted = false;
    }
    #failed(kind: string, detail: string): void {
        const { res } = this;
        if (this.upgraded) {
            this.#socket?.destroy();
            return;
        }
        if (res !== null) {
            this.#isOver = true;
            this.destroyed = true;
            this.#release();
            res.destroy(Object.assign(new Error("aborted"), { code: "ECONNRESET" }));
            this.#socket?._close();
            process.nextTick(() => {
                this._closed = true;
                this.emit("close");
            });
            return;
        }
        this.#fail(errorOf(kind, detail, this.#asked));
    }
    #fail(error: Error): void {
        if (this.#isOver) return;
        this.#isOver = true;
        this.destroyed = true;
        this.errored = error;
        this.#socket?._close();
        this.#release();
        this.emit("error", error);
        process.nextTick(() => {
            this._closed = true;
            this.emit("close");
        });
    }
    /** The response is not wanted any more. */
    _giveUp(): void {
        if (this.#id !== undefined) abort(this.#id);
        if (this.#isOver) return;
        this.#isOver = true;
        this.destroyed = true;
        this.#socket?._close();
        this.#release();
        process.nextTick(() => {
            this._closed = true;
            this.emit("close");
        });
    }

    write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
        const done = typeof encoding === "function" ? (encoding as Callback) : (callback as Callback | undefined);
        if (chunk === null) throw new codes.ERR_STREAM_NULL_VALUES();
        if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) throw new codes.ERR_INVALID_ARG_TYPE("chunk", ["string", "Buffer", "Uint8Array"], chunk);
        const problem = this.finished ? new codes.ERR_STREAM_WRITE_AFTER_END() : this.destroyed ? new codes.ERR_STREAM_DESTROYED("write") : undefined;
        if (problem !== undefined) {
            process.nextTick(() => {
                if (this.finished) this.emit("error", problem);
                done?.(problem);
            });
            return false;
        }
        if (!this._header) this._implicitHeader();
        const bytes = typeof chunk === "string" && typeof encoding === "string" && !/^utf-?8$/i.test(encoding) ? Buffer.from(chunk, encoding as BufferEncoding) : chunk;
        const hasRoom = this.#give(bytes);
        if (done !== undefined) process.nextTick(done);
        if (!hasRoom) this.#needsDrain = true;
        return hasRoom;
    }
    #give(bytes: Uint8Array | string): boolean {
        if (bytes.length === 0) return true;
        if (this.#id === undefined) {
            this.#early.push(typeof bytes === "string" ? bytes : Buffer.from(bytes));
            this.#waiting += bytes.length;
            this.#begin();
            if (this.#id === undefined && this.#waiting >= HIGH_WATER_MARK) {
                return false;
            }
            return true;
        }
        return write(this.#id, bytes);
    }
    end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
        if (typeof chunk === "function") {
            callback = chunk;
            chunk = undefined;
        } else if (typeof encoding === "function") {
            callback = encoding;
            encoding = undefined;
        }
        if (this.finished) {
            if (typeof callback === "function") {
                const error = this.#isFinished ? new codes.ERR_STREAM_ALREADY_FINISHED("end") : undefined;
                if (error === undefined) this.once("finish", callback as () => void);
                else process.nextTick(callback as Callback, error);
            }
            return this;
        }
        const isEmpty = chunk === undefined || chunk === null || (chunk as string).length === 0;
        if (!isEmpty && typeof chunk !== "string" && !(chunk instanceof Uint8Array)) {
            throw new codes.ERR_INVALID_ARG_TYPE("chunk", ["string", "Buffer", "Uint8Array"], chunk);
        }
        if (!this._header) {
            const length = isEmpty ? 0 : typeof chunk === "string" ? Buffer.byteLength(chunk, encoding as BufferEncoding) : (chunk as Uint8Array).length;
            this._contentLength = length;
            this._implicitHeader();
        }
        if (typeof callback === "function") this.once("finish", callback as () => void);
        if (this.#id === undefined) {
            if (!isEmpty) this.#early.push(typeof chunk === "string" ? Buffer.from(chunk, encoding as BufferEncoding) : (chunk as Uint8Array));
            this.finished = true;
            this.#isEarlyEnd = true;
            this.#begin();
            return this;
        }
        if (!isEmpty) this.write(chunk, encoding);
        this.finished = true;
        end(this.#id);
        return this;
    }

    abort(): void {
        if (this.aborted) return;
        this.aborted = true;
        process.nextTick(() => this.emit("abort"));
        this.destroy();
    }
    destroy(error?: Error | null): this {
        if (this.destroyed) return this;
        this.destroyed = true;
        if (this.#id !== undefined) abort(this.#id);
        const { res } = this;
        this.res?._dump();
        this.#release();
        this.#socket?._close();
        if (this.#isOver) return this;
        this.#isOver = true;
        if (res !== null) {
            if (!res.complete) res.destroy(error ?? Object.assign(new Error("aborted"), { code: "ECONNRESET" }));
            process.nextTick(() => {
                this._closed = true;
                this.emit("close");
            });
            return this;
        }
        const told = error ?? (this.aborted && !this.#hasSocket ? null : hangUp());
        this.errored = told;
        const tell = (): void => {
            if (told !== null) this.emit("error", told);
            this._closed = true;
            this.emit("close");
        };
        if (this.#hasSocket) process.nextTick(tell);
        else this.#tellLater = tell;
        return this;
    }

    setTimeout(ms: number, callback?: () => void): this {
        if (this.finished && this.#isOver) return this;
        this.timeout = ms;
        if (callback !== undefined) this.once("timeout", callback);
        if (this.#hasSocket) (this.socket as ClientSocket).setTimeout(ms);
        return this;
    }
    clearTimeout(callback?: () => void): this {
        return this.setTimeout(0, callback);
    }
    setNoDelay(): void {}
    setSocketKeepAlive(): void {}
    cork(): void {}
    uncork(): void {}
    addTrailers(): never {
        throw unsupported("trailers");
    }
    onSocket(): never {
        throw unsupported("connections that a program makes itself");
    }
    get writableFinished(): boolean {
        return this.#isFinished;
    }
    get writableLength(): number {
        return this.#waiting;
    }
    get writableHighWaterMark(): number {
        return HIGH_WATER_MARK;
    }
    get writableNeedDrain(): boolean {
        return !this.destroyed && !this.finished && this.#needsDrain;
    }
    get writableCorked(): number {
        return 0;
    }
}

export function request(input: unknown, options?: unknown, callback?: unknown): ClientRequest {
    return new ClientRequest(input, options, callback);
}

export function get(input: unknown, options?: unknown, callback?: unknown): ClientRequest {
    return request(input, options, callback).end();
}

/** As `request`, for https. */
export function secureRequest(input: unknown, given?: unknown, listener?: unknown): ClientRequest {
    const { options, callback } = normalised(input, given, listener);
    return new ClientRequest({ ...options, _isSecure: true }, callback);
}

export function secureGet(input: unknown, options?: unknown, callback?: unknown): ClientRequest {
    return secureRequest(input, options, callback).end();
}
