// `listen`: Node's own method reads its many forms, looks up names and asks the primary of a cluster; what is replaced
// is the last step, where Node would bind a handle.
import { chmodSync, statSync, unlinkSync } from "node:fs";
import { getSystemErrorMap } from "node:util";
import { lane, laneNumber, type Listening, type ListenOptions } from "../native/lane";
import { type Channel } from "./channel";
import { Core } from "./core";
import { attach, detach, open } from "./dispatch";
import { NodeServer } from "./node_symbols";
import { hold, release } from "./refs";
import { kCore, kTls, type ServerSettings, settingsOf } from "./settings";
import { type Server } from "node:http";

/** Open connections of a server. */
export const kChannels = Symbol("leat.channels");
/** Whether several lanes may listen on the same port. */
export const kReusePort = Symbol("leat.reusePort");

/** What Node takes for the handle of a server that listens. */
interface ListenHandle {
    close(callback?: () => void): void;
    ref(): void;
    unref(): void;
    getsockname?(out: Record<string, unknown>): number;
    onconnection?: (status: number, client: AcceptedHandle | undefined) => void;
}

/** A connection that Node accepted for a worker of a cluster. */
interface AcceptedHandle {
    readonly fd: number;
    close(): void;
}

/** Node's private members of a server. */
export interface ListeningServer extends Server, ServerSettings {
    _handle: ListenHandle | null;
    _unref: boolean;
    _connectionKey: string;
    [kChannels]: Set<Channel>;
    [kReusePort]?: boolean;
    headersTimeout: number;
    requestTimeout: number;
    keepAliveTimeout: number;
    maxHeaderSize: number | undefined;
}

type Listen2 = (this: unknown, address: string | null, port: number | null, family: number | null, backlog: number, fd?: number, flags?: number) => void;

const nodeListen2 = (NodeServer.prototype as unknown as { _listen2: Listen2 })._listen2;

/** UV_TCP_IPV6ONLY of the flags that `listen` makes of its options. */
const IPV6_ONLY = 1;

const BACKLOG = 511;

/** Binds and listens; the name is Node's. */
export function listen2(this: ListeningServer, address: string | null, port: number | null, family: number | null, backlog: number, fd?: number, flags?: number): void {
    open();
    if (this._handle !== null) {
        listenOnHandle(this, address, port, family, backlog, fd, flags);
        return;
    }
    const options: ListenOptions = { ...settingsOf(this), backlog: backlog || BACKLOG };
    const isPath = port === -1 && family === -1;
    let bound: string | null = address;
    let listening: Listening;
    try {
        if (typeof fd === "number" && fd >= 0) {
            options.fd = fd;
            listening = lane().listen(laneNumber(), options);
        } else if (isPath) {
            options.path = address ?? "";
            listening = lane().listen(laneNumber(), options);
        } else {
            options.port = port ?? 0;
            if (this[kReusePort] === true) options.reusePort = true;
            if (((flags ?? 0) & IPV6_ONLY) !== 0) options.ipv6Only = true;
            [listening, bound] = listenOn(options, address);
        }
    } catch (error) {
        const failure = asNodeError(isPath ? pipeError(error) : error, bound, isPath ? -1 : port);
        process.nextTick(() => this.emit("error", failure));
        return;
    }
    const core = new Core(this, this[kTls] !== undefined, this[kChannels]);
    attach(core, listening.server);
    this[kCore] = core;
    this._handle = listenHandle(core, listening, isPath ? address : null);
    this._connectionKey = `${String(family)}:${String(bound)}:${String(port)}`;
    if (this._unref) this.unref();
    process.nextTick(emitListening, this);
}

function emitListening(server: ListeningServer): void {
    if (server._handle !== null) server.emit("listening");
}

/** Without a host Node listens on every address of both families, or of IPv4 where there is no IPv6. */
function listenOn(options: ListenOptions, address: string | null): [Listening, string] {
    if (address) return [lane().listen(laneNumber(), { ...options, host: address }), address];
    try {
        return [lane().listen(laneNumber(), { ...options, host: "::" }), "::"];
    } catch (error) {
        const code = (error as { code?: string }).code;
        if (code !== "EAFNOSUPPORT" && code !== "EINVAL" && code !== "EADDRNOTAVAIL") throw Object.assign(error as Error, { address: "::" });
        return [lane().listen(laneNumber(), { ...options, host: "0.0.0.0" }), "0.0.0.0"];
    }
}

function listenHandle(core: Core, listening: Listening, path: string | null): ListenHandle {
    let held = true;
    hold();
    const handle: ListenHandle & { fchmod(mode: number): number } = {
        close(callback) {
            if (!core.closed) {
                core.closed = true;
                lane().close(core.id);
                if (held) release();
                held = false;
                if (path !== null) remove(path);
                detach(core);
            }
            if (callback !== undefined) setImmediate(callback);
        },
        ref() {
            if (!held && !core.closed) hold();
            held = !core.closed;
        },
        unref() {
            if (held) release();
            held = false;
        },
        fchmod: (mode) => chmod(path, mode),
    };
    if (path === null) {
        handle.getsockname = (out) => {
            out["address"] = listening.address;
            out["family"] = listening.family;
            out["port"] = listening.port;
            return 0;
        };
    }
    return handle;
}

/** A handle that was made elsewhere: Node accepts on it, and the engine serves what it accepted. */
function listenOnHandle(server: ListeningServer, ...args: Parameters<Listen2>): void {
    nodeListen2.apply(server, args);
    const handle = server._handle;
    if (handle === null) return;
    const core = new Core(server, server[kTls] !== undefined, server[kChannels]);
    attach(core, lane().listenNone(laneNumber(), settingsOf(server)).server);
    server[kCore] = core;
    handle.onconnection = (status, client) => {
        if (status !== 0 || client === undefined) {
            server.emit("error", asNodeError({ errno: status, syscall: "accept" }, null, null));
            return;
        }
        lane().adopt(core.id, client.fd);
        client.close();
    };
    const close = handle.close.bind(handle);
    handle.close = (callback) => {
        if (!core.closed) {
            core.closed = true;
            lane().close(core.id);
            detach(core);
        }
        close(callback);
    };
}

/** An error of `listen` in the words of Node. */
function asNodeError(error: unknown, address: string | null, port: number | null): Error {
    const { code, errno, syscall, address: tried } = error as { code?: string; errno?: number; syscall?: string; address?: string };
    if ((code === undefined && errno === undefined) || code?.startsWith("LEAT_") === true) return error as Error;
    const [number, name, words] = describe(code, errno);
    const call = syscall ?? "listen";
    const where = address ?? tried ?? null;
    const shownPort = port !== null && port > 0 ? port : undefined;
    const details = shownPort !== undefined ? ` ${String(where)}:${shownPort}` : where ? ` ${where}` : "";
    const out = new Error(`${call} ${name}: ${words}${details}`) as Error & Record<string, unknown>;
    out["code"] = name;
    out["errno"] = number;
    out["syscall"] = call;
    out["address"] = where;
    if (port) out["port"] = port;
    return out;
}

/** For a socket in a folder that is not there libuv says what it says for one that may not be written. */
function pipeError(error: unknown): unknown {
    return (error as { code?: string }).code === "ENOENT" ? { code: "EACCES" } : error;
}

function describe(code: string | undefined, errno: number | undefined): [number: number | undefined, name: string, words: string] {
    for (const [number, [name, words]] of getSystemErrorMap()) {
        if (name === code || (code === undefined && number === errno)) return [number, name, words];
    }
    return [errno, code ?? "UNKNOWN", "unknown error"];
}

const READABLE = 1;
const WRITABLE = 2;

function chmod(path: string | null, mode: number): number {
    if (path === null) return 0;
    let bits = statSync(path).mode & 0o777;
    if ((mode & READABLE) !== 0) bits |= 0o444;
    if ((mode & WRITABLE) !== 0) bits |= 0o222;
    chmodSync(path, bits);
    return 0;
}

/** As libuv does when a pipe that listened is closed. */
function remove(path: string): void {
    if (path.startsWith("\0")) return;
    try {
        unlinkSync(path);
    } catch {
        // The engine did it, or somebody else.
    }
}
