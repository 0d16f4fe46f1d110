import { Socket } from "node:net";
import { type Channel, Mode } from "./channel";
import { nodeError, socketErrored } from "./client_error";
import { closed, closeResponse, drained, hookFinish, timedOut } from "./lifecycle";

type Callback = (error?: Error | null) => void;

/** What `net.Socket` takes for its libuv handle: it tells the channel what the socket wants. */
class Handle {
    readonly channel: Channel;
    reading = false;
    bytesRead = 0;
    bytesWritten = 0;
    readonly writeQueueSize = 0;
    readonly fd = -1;
    onread: unknown = null;
    /** Whether the socket is on its way to a reset. */
    resets = false;

    constructor(channel: Channel) {
        this.channel = channel;
    }

    readStart(): number {
        this.channel.resume();
        return 0;
    }

    readStop(): number {
        this.channel.pause();
        return 0;
    }

    /** Done in a later turn, as with a handle of libuv. */
    shutdown(request: { oncomplete(status: number): void }): number {
        // A reset is no end, and says all.
        if (!this.resets) this.channel.shutdown();
        setImmediate(() => {
            request.oncomplete(0);
        });
        return 0;
    }

    close(callback?: () => void): void {
        this.channel.close(false);
        if (callback !== undefined) setImmediate(callback);
    }

    reset(callback: () => void): number {
        this.channel.close(true);
        setImmediate(callback);
        return 0;
    }

    ref(): void {
        this.channel.holdProcess();
    }

    unref(): void {
        this.channel.releaseProcess();
    }

    hasRef(): boolean {
        return this.channel.counted;
    }

    setNoDelay(): number {
        return 0;
    }

    setKeepAlive(): number {
        return 0;
    }

    getpeername(out: Record<string, unknown>): number {
        const { facts } = this.channel;
        if (!facts.local) address(out, facts.remoteAddress, facts.family, facts.remotePort);
        return 0;
    }

    getsockname(out: Record<string, unknown>): number {
        const { facts } = this.channel;
        if (!facts.local) address(out, facts.localAddress, facts.family, facts.localPort);
        return 0;
    }
}

/** Stands in for Node's parser. */
class Parser {
    readonly socket: LeatSocket;

    constructor(socket: LeatSocket) {
        this.socket = socket;
    }

    get incoming(): unknown {
        const channel = this.socket[kChannel];
        return channel.req ?? channel.body;
    }
}

const kParser = Symbol("leat.parser");
const kHandle = Symbol("leat.handle");
/** The channel behind a socket. */
export const kChannel = Symbol("leat.channel");

/** A connection as programs see it: a `net.Socket` that speaks through the engine. */
export class LeatSocket extends Socket {
    declare readonly [kChannel]: Channel;
    declare private readonly [kHandle]: Handle;
    /** The response that is being sent, as on Node's own sockets. */
    declare _httpMessage: unknown;
    declare server: unknown;
    declare _paused: boolean;
    declare encrypted?: boolean;
    declare private [kParser]: Parser | undefined;

    constructor(channel: Channel, highWaterMark: number | undefined) {
        const handle = new Handle(channel);
        super({
            handle,
            allowHalfOpen: true,
            manualStart: true,
            readable: true,
            writable: true,
            ...(highWaterMark === undefined ? {} : { readableHighWaterMark: highWaterMark, writableHighWaterMark: highWaterMark }),
        } as ConstructorParameters<typeof Socket>[0]);
        this[kChannel] = channel;
        this[kHandle] = handle;
        this._httpMessage = null;
        this._paused = false;
        this.on("close", closed);
        this.on("drain", drained);
        this.on("timeout", timedOut);
        this.on("error", socketErrored);
    }

    override _write(chunk: string | Uint8Array, encoding: BufferEncoding, callback: Callback): void {
        if (this.timeout) (this as unknown as { _unrefTimer(): void })._unrefTimer();
        const channel = this[kChannel];
        hookFinish(channel);
        this[kHandle].bytesWritten += typeof chunk === "string" ? Buffer.byteLength(chunk, encoding) : chunk.byteLength;
        channel.write(chunk, encoding, callback);
    }

    override _writev(chunks: { chunk: string | Uint8Array; encoding: BufferEncoding }[], callback: Callback): void {
        if (this.timeout) (this as unknown as { _unrefTimer(): void })._unrefTimer();
        const channel = this[kChannel];
        hookFinish(channel);
        for (const { chunk, encoding } of chunks) {
            this[kHandle].bytesWritten += typeof chunk === "string" ? Buffer.byteLength(chunk, encoding) : chunk.byteLength;
        }
        channel.writeAll(chunks, callback);
    }

    /** What a program calls, and what a body's stream calls that is full: programs listen to both. */
    override pause(): this {
        const channel = this[kChannel];
        if (channel.mode !== Mode.Http) return super.pause();
        const { paused } = channel;
        channel.pause();
        if (!paused) this.emit("pause");
        return this;
    }

    override resume(): this {
        const channel = this[kChannel];
        if (channel.mode !== Mode.Http) return super.resume();
        const { paused } = channel;
        channel.resume();
        if (paused && this.listenerCount("resume") !== 0) process.nextTick(emitResume, this);
        return this;
    }

    /** What programs that know Node's server look for the current request in. */
    get parser(): unknown {
        const channel = this[kChannel];
        return channel.mode === Mode.Http ? (this[kParser] ??= new Parser(this)) : null;
    }

    /** Refused as by Node's server, after an upgrade too. */
    override setEncoding(): never {
        throw nodeError("ERR_HTTP_SOCKET_ENCODING", "Changing the socket encoding is not allowed per RFC7230 Section 3.");
    }

    /** At 'close' the response's turn comes where Node's listener for it would stand: behind those from before the request. */
    override emit(event: string | symbol, ...args: unknown[]): boolean {
        const channel = this[kChannel];
        if (event !== "close" || channel.res === null) return super.emit(event, ...args);
        const listeners = this.rawListeners("close");
        const { res } = channel;
        const before = Math.min(channel.closeListeners, listeners.length);
        listeners.forEach((listener, at) => {
            if (at === before) closeResponse(res);
            Reflect.apply(listener, this, args);
        });
        if (before === listeners.length) closeResponse(res);
        return true;
    }

    /** Node's own, but for its look at what kind of handle there is. */
    override resetAndDestroy(): this {
        const { _handle, [kChannel]: channel } = this as unknown as { _handle: unknown; [kChannel]: Channel };
        if (_handle === null) return this.destroy(nodeError("ERR_SOCKET_CLOSED", "Socket is closed"));
        if (channel.facts.tls || channel.facts.local) throw nodeError("ERR_INVALID_HANDLE_TYPE", "This handle type cannot be sent", TypeError);
        this[kHandle].resets = true;
        (this as unknown as { _reset(): void })._reset();
        return this;
    }

    /** Leaves HTTP: from now on this is a plain stream of bytes. */
    leaveHttp(): void {
        this.removeListener("close", closed);
        this.removeListener("drain", drained);
        this.removeListener("timeout", timedOut);
        this.removeListener("error", socketErrored);
        (this as { readableFlowing: boolean | null }).readableFlowing = null;
        this[kChannel].takeOver();
    }

    /** Counts bytes that went past the stream. */
    countWritten(bytes: number): void {
        this[kHandle].bytesWritten += bytes;
    }

    /** Counts bytes that came in. */
    countRead(bytes: number): void {
        this[kHandle].bytesRead += bytes;
        if (this.timeout) (this as unknown as { _unrefTimer(): void })._unrefTimer();
    }

    /** Bytes from the peer after an upgrade. */
    receive(bytes: Buffer): void {
        this.countRead(bytes.length);
        const channel = this[kChannel];
        if (!this.push(bytes)) {
            channel.pause();
            this[kHandle].reading = false;
        }
        channel.consumed(bytes.length);
    }
}

/** Whether a socket is one of the engine's, with TLS or without. */
export function isLeatSocket(socket: object): socket is LeatSocket {
    return kChannel in socket;
}

/** The `write` that sends to the engine, to see whether somebody replaced it. */
export const socketWrite = LeatSocket.prototype.write;

// Programs print it, and tell sockets by it.
Object.defineProperty(LeatSocket, "name", { value: "Socket" });

function emitResume(socket: LeatSocket): void {
    socket.emit("resume");
}

function address(out: Record<string, unknown>, text: string, family: string | undefined, port: number): void {
    out["address"] = text;
    out["family"] = family;
    out["port"] = port;
}
