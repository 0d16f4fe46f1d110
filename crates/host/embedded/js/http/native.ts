// What the host gives to servers, and calls them for.

/** Where and how to listen. `host` is an IP literal. */
export interface ListenOptions {
    host?: string;
    port?: number;
    path?: string;
    fd?: number;
    backlog?: number;
    ipv6Only?: boolean;
    reusePort?: boolean;
    headersTimeout?: number;
    requestTimeout?: number;
    keepAliveTimeout?: number;
    maxHeaderSize?: number;
    maxHeadersCount?: number;
    noDelay?: boolean;
    keepAlive?: boolean;
    keepAliveInitialDelay?: number;
    connectionsMax?: number;
    tls?: object;
}

/** A server that listens; without an address it is a Unix socket. */
export interface Listening {
    server: number;
    address?: string;
    family?: string;
    port?: number;
}

/** Flags of a reply's records. */
export const LAST = 1;
export const KEEP = 2;
export const ACK = 4;

/** Flags of a request. */
export const KEEP_ALIVE = 1;
export const HAS_BODY = 2;
export const UPGRADE = 4;
export const HAS_HOST = 8;
export const HAS_EXPECT = 16;
export const H2 = 32;
export const HTTP10 = 64;
/** The engine has no name for the method. */
export const OTHER_METHOD = 128;

/** What a TLS handshake settled. */
export interface Handshake {
    /** `TLSv1.2` or `TLSv1.3`. */
    version: string;
    /** The cipher suite by its standard name. */
    cipher: string;
    serverName: string;
    alpn: string;
    /** Why the client's certificate can't be trusted, in OpenSSL's word for it; empty where it can. */
    problem?: string;
    /** The client's certificate in DER form, if it showed one. */
    certificate?: Uint8Array;
}

/** Flags of a connection. */
export const IPV6 = 1;
export const UNIX = 2;

/** What the host calls. Exchanges and connections have numbers; reasons too, 0 for none. */
export interface Hooks {
    opened(server: number, connection: number, remote: string, remotePort: number, local: string, localPort: number, flags: number, tls: Handshake | undefined): void;
    unshaken(server: number, remotePort: number, localPort: number, flags: number, text: [remote: string, local: string, code: string, words: string]): void;
    /** A request that has something unusual. Of others the host makes both objects, and calls the listener. */
    request(line: object, req: object, exchange: number, flags: number): void;
    /** The whole body of a request came with its head: `http.json` and `http.bytes` have it during this call. */
    body(req: object): void;
    /** A request has no whole reply after the turn that it came in. */
    pending(req: object): void;
    /** `emit` of emitters, and the symbol by which they say that they capture rejections. */
    emit: unknown;
    captures: symbol | undefined;
    /** What makes a response's head, as responses have it. */
    writeHead: unknown;
    implicitHeader: unknown;
    storeHeader: unknown;
    /** What Express calls besides. */
    setHeader: unknown;
    getHeader: unknown;
    endReply: unknown;
    data(exchange: number, bytes: Uint8Array): void;
    end(exchange: number, trailers?: string[]): void;
    gone(exchange: number, reason: number): void;
    closed(connection: number, reason: number): void;
    writable(exchange: number): void;
    fault(exchange: number, connection: number, reason: number, bytes: Uint8Array): void;
    eof(exchange: number): void;
    /** Something ran too long and was stopped, in a turn that is over. */
    stopped(): void;
}

type Body = string | Uint8Array | undefined;

interface Http {
    hooks(hooks: Hooks): void;
    /** Listens; request and response objects of `server` inherit from these. */
    listen(options: ListenOptions, request: object, response: object, server: object): Listening;
    /** Stops accepting. */
    close(server: number): void;
    /** Forgets a closed server without connections. */
    forget(server: number): void;
    /** Whether the server keeps the program running. */
    hold(server: number, hold: boolean): void;
    settings(server: number, options: ListenOptions): void;
    /** `end` of a response, if all of it is usual, within the call for its request; false, and nothing has happened, if not. */
    finish(res: object, chunk: unknown): boolean;
    /** A whole reply. Within the call for its request it costs a copy, and no record. `latin1`: 1 its body is, 2 its head. */
    whole(exchange: number, status: number, keep: boolean, head: string, body: Body, latin1: number): void;
    /** A head and the first of its body; with status 0 bytes of the program's own. */
    head(exchange: number, status: number, flags: number, head: string, first: Body, latin1: number): void;
    /** The connection whose request JavaScript is being called for; -1 for none. */
    serving(): number;
    /** Bytes of what was sent last. */
    written(): number;
    interim(exchange: number, status: number, head: string): void;
    data(exchange: number, flags: number, body: Body, latin1: boolean): void;
    end(exchange: number, flags: number, trailers?: string): void;
    /** Within the hook `body`: the value that the body is as JSON; undefined if it is none, or is not plainly UTF-8. `strict`: an object or an array. */
    json(strict: boolean): unknown;
    /** Within the hook `body`: the body. */
    bytes(): Uint8Array;
    /** So many more bytes of the body are wanted. */
    read(exchange: number, bytes: number): void;
    abort(exchange: number, reset: boolean): void;
    /** Nothing can answer the exchange any more: the engine does, or cuts off what has begun. */
    abandon(exchange: number, hasBegun: boolean, hasBody: boolean): void;
    /** Collects garbage. */
    collect(): void;
    opaque(exchange: number): void;
    closeConnection(connection: number): void;
    destroyConnection(connection: number, reset: boolean): void;
    /**
     * The usual whole reply on a connection that stays, with length and entity tag of `body`: X-Powered-By first if it is wanted, then
     * `fields`, then the type if one is given. The tag; undefined, and nothing is said, if it must go the longer way.
     */
    sendPlain(exchange: number, status: number, line: string, fields: object | null, timeout: number, body: string | Uint8Array, type: string | undefined, powered: boolean): string | undefined;
    /**
     * A usual response with this body, text or bytes of `type` or without a type JSON, and the end of all that there is to it. The entity
     * tag; undefined, and nothing is said, if anything is unusual.
     */
    reply(res: object, value: unknown, type: string | undefined): string | undefined;
    /** Whether an open connection keeps the program running. */
    holdConnection(connection: number, hold: boolean): void;
    /** The object of a connection, which comes with its requests. */
    line(connection: number, line: object): void;
    /** Whether text may stand in a field's value. */
    isValue(text: string): boolean;
    /** The entity tag of text or bytes, without `W/`. */
    tag(body: string | Uint8Array): string | undefined;
    reasons(): [code: string, status: number, text: string][];
}

interface Heads {
    rawHeaders(req: object): string[] | undefined;
    headers(req: object, joined: boolean, max: number): Record<string, string | string[]> | undefined;
    header(req: object, name: string): string | string[] | undefined;
    isConditional(req: object): boolean;
    /** The length of a body that is plain JSON in UTF-8; 0 for all others. */
    jsonBytes(req: object): number;
    version(req: object): number | undefined;
}

export const http = native("http") as Http;
export const heads = native("head") as Heads;

interface Members {
    /** The own properties of `members` become the prototype's, with their getters: writable where they are values, and not enumerable. */
    hide(prototype: object, members: object): void;
    /** Copies properties that `into` does not have, as they are. */
    mixin(into: object, from: object): void;
    /** One object for each step of the way in which `grown` grew: the first has its first property, the last has all, without values. */
    steps(grown: object): object[];
}
export const { hide, mixin, steps } = native("members") as Members;
