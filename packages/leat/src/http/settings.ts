// Times and limits of a server: properties as on Node's, whose changes reach the engine while it runs.
import { X509Certificate } from "node:crypto";
import { maxHeaderSize as MAX_HEADER_SIZE } from "node:http";
import { lane, type RpcSettings, type Settings } from "../native/lane";
import { type Core } from "./core";
import { tlsSettings } from "./tls_settings";

/** The core of a server that listens. */
export const kCore = Symbol("leat.core");
/** What TLS options a server has. */
export const kTls = Symbol("leat.tls");
/** Whether a server speaks HTTP/2. */
export const kHttp2 = Symbol("leat.http2");
/** What a server of RPC knows of its services. */
export const kRpc = Symbol("leat.rpc");

/** What the engine needs to know of a server. */
export interface ServerSettings {
    headersTimeout: number;
    requestTimeout: number;
    keepAliveTimeout: number;
    keepAliveTimeoutBuffer?: number;
    maxHeaderSize: number | undefined;
    noDelay?: boolean;
    keepAlive?: boolean;
    keepAliveInitialDelay?: number;
    [kCore]?: Core | undefined;
    [kTls]?: Record<string, unknown> | undefined;
    [kHttp2]?: boolean;
    [kRpc]?: RpcSettings | undefined;
}

/** How much longer than it tells Node leaves an idle connection open, in milliseconds. */
const KEEP_ALIVE_BUFFER_MS = 1000;

/** Node cuts off the list of fields by itself; the engine's own limit is the size of the head. */
const FIELDS_MAX = 0xffff;

/** The engine's settings for `server`. */
export function settingsOf(server: ServerSettings): Settings {
    const http2 = server[kHttp2] === true;
    const out: Settings = {
        headersTimeout: time(server.headersTimeout),
        requestTimeout: time(server.requestTimeout),
        keepAliveTimeout: idleTime(server),
        maxHeaderSize: server.maxHeaderSize || MAX_HEADER_SIZE,
        maxHeadersCount: FIELDS_MAX,
        http2,
        noDelay: server.noDelay !== false,
        keepAlive: server.keepAlive === true,
        keepAliveInitialDelay: Number(server.keepAliveInitialDelay) || 0,
    };
    const tls = server[kTls];
    if (tls !== undefined) out.tls = tlsSettings(tls, http2);
    const rpc = server[kRpc];
    if (rpc !== undefined) out.rpc = rpc;
    return out;
}

/** Tells the engine what changed. */
export function pushSettings(server: ServerSettings, changed: Settings): void {
    const core = server[kCore];
    if (core !== undefined && !core.closed) lane().settings(core.id, changed);
}

/** Puts properties whose changes reach the engine on a server's prototype. */
export function defineSettings(prototype: object): void {
    define(prototype, "headersTimeout", (server) => ({ headersTimeout: time(server.headersTimeout) }));
    define(prototype, "requestTimeout", (server) => ({ requestTimeout: time(server.requestTimeout) }));
    define(prototype, "keepAliveTimeout", (server) => ({ keepAliveTimeout: idleTime(server) }));
    define(prototype, "keepAliveTimeoutBuffer", (server) => ({ keepAliveTimeout: idleTime(server) }));
    define(prototype, "maxHeaderSize", (server) => ({ maxHeaderSize: server.maxHeaderSize || MAX_HEADER_SIZE }));
}

function define(prototype: object, name: string, changed: (server: ServerSettings) => Settings): void {
    const key = Symbol(`leat.${name}`);
    Object.defineProperty(prototype, name, {
        configurable: true,
        enumerable: true,
        get(this: Record<symbol, unknown>): unknown {
            return this[key];
        },
        set(this: Record<symbol, unknown>, value: unknown): void {
            this[key] = value;
            if (this[kCore] !== undefined) pushSettings(this as unknown as ServerSettings, changed(this as unknown as ServerSettings));
        },
    });
}

function idleTime(server: ServerSettings): number {
    const told = time(server.keepAliveTimeout);
    if (told === 0) return 0;
    const buffer = server.keepAliveTimeoutBuffer;
    return told + (typeof buffer === "number" && Number.isFinite(buffer) && buffer >= 0 ? buffer : KEEP_ALIVE_BUFFER_MS);
}

/** A time that is none switches the limit off. */
function time(value: number): number {
    return Number.isFinite(value) && value > 0 ? value : 0;
}

/** The certificate that a server shows, as far as it was given one in PEM form. */
export function ownCertificate(server: object): X509Certificate | undefined {
    const given = (server as ServerSettings)[kTls]?.["cert"];
    const first: unknown = Array.isArray(given) ? given[0] : given;
    return typeof first === "string" || first instanceof Uint8Array ? new X509Certificate(first) : undefined;
}

/** Whether a server asks its clients for a certificate. */
export function asksCertificate(server: object): boolean {
    return (server as ServerSettings)[kTls]?.["requestCert"] === true;
}
