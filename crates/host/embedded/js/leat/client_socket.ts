// The socket of a request, as programs see it: its timers and facts, and after an upgrade the stream of its bytes.
import { Duplex } from "node:stream";
import { abort, end, read, write } from "../web/exchange";

export class ClientSocket extends Duplex {
    connecting = true;
    encrypted: boolean | undefined;
    authorized: boolean | undefined;
    timeout = 0;
    bytesRead = 0;
    bytesWritten = 0;
    remoteAddress: string | undefined;
    remotePort: number | undefined;
    remoteFamily: string | undefined;
    _httpMessage: object | null = null;
    #timer: ReturnType<typeof setTimeout> | undefined;
    /** The exchange, once its bytes are the stream's. */
    #tunnel: number | undefined;
    #waiting: (() => void) | undefined;

    constructor(about: { host: string; port: number; isUnix: boolean; isTLS: boolean }) {
        super({ allowHalfOpen: true, autoDestroy: true });
        if (!about.isUnix) {
            // A name is not an address; what it was resolved to is not told.
            this.remoteAddress = /^[\d.]+$|:/.test(about.host) ? about.host : undefined;
            this.remoteFamily = about.host.includes(":") ? "IPv6" : "IPv4";
            this.remotePort = about.port;
        }
        if (about.isTLS) {
            this.encrypted = true;
            this.authorized = true;
        }
    }
    get pending(): boolean {
        return this.connecting;
    }
    get readyState(): string {
        return this.connecting ? "opening" : this.destroyed ? "closed" : "open";
    }

    /** The connection is there. */
    _connected(): void {
        if (!this.connecting) return;
        this.connecting = false;
        this.emit("connect");
        if (this.encrypted === true) this.emit("secureConnect");
        this.emit("ready");
    }
    /** Something happened: the time of silence begins anew. */
    _active(): void {
        if (this.#timer !== undefined) this.#time();
    }
    #time(): void {
        if (this.#timer !== undefined) clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.emit("timeout"), this.timeout);
        (this.#timer as unknown as { unref(): void }).unref();
    }
    setTimeout(ms: number, callback?: () => void): this {
        this.timeout = ms;
        if (this.#timer !== undefined) clearTimeout(this.#timer);
        this.#timer = undefined;
        if (ms > 0) {
            this.#time();
            if (callback !== undefined) this.once("timeout", callback);
        } else if (callback !== undefined) this.removeListener("timeout", callback);
        return this;
    }
    setNoDelay(): this {
        return this;
    }
    setKeepAlive(): this {
        return this;
    }
    ref(): this {
        return this;
    }
    unref(): this {
        return this;
    }
    address(): object {
        return {};
    }
    destroySoon(): void {
        if (this.writable) this.end();
        if (this.writableFinished) this.destroy();
        else this.once("finish", () => this.destroy());
    }

    /** From now on the bytes are the stream's. */
    _open(id: number): void {
        this.#tunnel = id;
    }
    _data(bytes: Uint8Array): boolean {
        this.bytesRead += bytes.length;
        return this.push(bytes);
    }
    _drained(): void {
        const go = this.#waiting;
        this.#waiting = undefined;
        go?.();
    }
    /** The request is over, and its socket with it. */
    _close(): void {
        if (this.#timer !== undefined) clearTimeout(this.#timer);
        this.#timer = undefined;
    }

    override _read(): void {
        if (this.#tunnel !== undefined) read(this.#tunnel);
    }
    override _write(chunk: Uint8Array, _encoding: string, callback: (error?: Error | null) => void): void {
        if (this.#tunnel === undefined) {
            callback(Object.assign(new Error("the socket of a request can't be written to before an upgrade: write to the request"), { code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM" }));
            return;
        }
        this.bytesWritten += chunk.length;
        if (write(this.#tunnel, chunk)) callback();
        else this.#waiting = callback;
    }
    override _final(callback: (error?: Error | null) => void): void {
        if (this.#tunnel !== undefined) end(this.#tunnel);
        callback();
    }
    override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
        this._close();
        if (this.#tunnel !== undefined) abort(this.#tunnel);
        const request = this._httpMessage as { destroy?(error?: Error | null): void } | null;
        if (this.#tunnel === undefined && request !== null) request.destroy?.(error);
        callback(this.#tunnel === undefined ? null : error);
    }
}
Object.defineProperty(ClientSocket, "name", { value: "Socket" });
