// What the native addon exports: the boundary between the engine's threads and this JavaScript thread. Types only; the
// addon itself comes from load.ts. Records, flags and ids of the batches stand beside the code that reads and writes them.

/**
 * Limits and times of a server; a key that is left out keeps the engine's default of the `compatible` profile.
 * Times are milliseconds and 0 switches one off.
 */
export interface Settings {
    headersTimeout?: number;
    requestTimeout?: number;
    keepAliveTimeout?: number;
    maxHeaderSize?: number;
    maxHeadersCount?: number;
    http2?: boolean;
    noDelay?: boolean;
    keepAlive?: boolean;
    keepAliveInitialDelay?: number;
    connectionsMax?: number;
    tls?: TlsSettings;
    rpc?: RpcSettings;
}

/** Makes a server one of RPC: requests in other protocols than gRPC come as gRPC's, and go back as their client's. */
export interface RpcSettings {
    /** A `google.protobuf.FileDescriptorSet` with the services and all that they import. */
    descriptors: Uint8Array;
    /** Longest message of a client after decompression, in bytes; the engine's default unless told. */
    readMaxBytes?: number;
    /** Whether requests that call none of the methods come as they are. */
    hasFallback: boolean;
    /** Pages of which origins may call, as browsers send them; of all unless told. */
    origins?: string[];
    /** Nothing is said to browsers. */
    noCors?: boolean;
    /** The codings that replies are compressed by, the first that a client takes; none unless told. */
    codings?: string[];
    /** Shortest message that is compressed, in bytes. */
    compressMinBytes?: number;
}

/** Certificates and keys as PEM text. What the engine cannot serve is refused by name before it comes here. */
export interface TlsSettings {
    cert: string | string[];
    key: string | string[];
    ca?: string | string[];
    requestCert?: boolean;
    rejectUnauthorized?: boolean;
    minVersion?: string;
    maxVersion?: string;
    ALPNProtocols?: string[];
}

/** Where to listen: `host` (an IP literal) and `port`, or `path` (a Unix socket), or `fd`. */
export interface ListenOptions extends Settings {
    host?: string;
    port?: number;
    path?: string;
    fd?: number;
    backlog?: number;
    ipv6Only?: boolean;
    reusePort?: boolean;
}

/** A server that the engine serves on; `address`, `family` and `port` are those of a TCP socket. */
export interface Listening {
    server: number;
    address?: string;
    family?: string;
    port?: number;
}

/** Why an exchange or a connection ended: what Node calls it, the status it is answered with, and a sentence. */
export interface Reason {
    code: string;
    status: number;
    text: string;
}

/** What a command prints, and its exit code. */
export interface DoctorOutcome {
    code: number;
    stdout: string;
    stderr: string;
}

/** An open lane: its number, and a descriptor that becomes readable when there is something to take; the caller closes it. */
export interface Attached {
    lane: number;
    fd: number;
}

/** Where calls go. Times are milliseconds, `Infinity` for none. */
export interface Destination {
    /** Whose connections they are: those of one number are pooled and closed together. */
    client: number;
    /** `host:port`, with brackets around an IPv6 address. */
    target: string;
    /** Host and port, as requests name them. */
    authority: string;
    tls: boolean;
    http2: boolean;
    /** Certificates in PEM form, in place of the public authorities. */
    ca?: string;
    serverName?: string;
    connectionsMax: number;
    waitingMax: number;
    connectTimeMs: number;
    idleTimeMs: number;
}

/** The addon's functions. All belong to the calling JavaScript thread; `lane` is what its `attach` gave. */
export interface Addon {
    /**
     * Opens a lane for this thread; one for each copy of this package that is loaded. `words` holds the records that `flush`
     * counts, `parts` what `take` gives.
     */
    attach(words: Uint32Array, parts: Uint32Array): Attached;
    /**
     * Begins a turn, and gives how many parts of slabs hold whole new records. `parts` tells of each a slab's number (counted
     * from 0 in the order of supply), its first byte and the one past its last. What is taken is to be answered by a `flush`.
     */
    take(lane: number): number;
    /** Gives the engine a fresh slab to fill, which is never modified or used again; one that it filled needs a new one. */
    supply(lane: number, slab: Uint8Array): void;
    /** Gives the engine memory for a long piece of a body. Once a record tells its number it is JavaScript's again. */
    supplyBody(lane: number, slab: Uint8Array): void;
    /**
     * Hands over `count` records of six words with their `text` (all chars at most U+00FF) and `buffers`, all of them
     * copied before it returns. Needed once after every round of batches even if there is nothing: it re-arms the wake-up.
     */
    flush(lane: number, count: number, text: string, buffers: Uint8Array[] | undefined): void;
    /** Names a place that calls may go to, until its client hangs up. Throws `LEAT_ARGUMENT`. */
    destination(lane: number, destination: Destination): number;
    /** Binds and listens before it returns. Throws an error with `code`, `errno` and `syscall` as Node's `listen` has them. */
    listen(lane: number, options: ListenOptions): Listening;
    /** A server without a listener, whose connections come through `adopt`. */
    listenNone(lane: number, settings: Settings): Listening;
    /** Serves an accepted connection; the descriptor is duplicated. */
    adopt(server: number, fd: number): void;
    /** Changes settings of a running server. */
    settings(server: number, settings: Settings): void;
    /** Stops accepting; open connections go on. */
    close(server: number): void;
    /** Reports `error` as an uncaught exception. Returns if a listener handled it. */
    fatal(error: unknown): void;
    /** What `leat doctor` prints of the app in `folder`, and ends with. */
    doctor(folder: string, json: boolean): DoctorOutcome;
    /**
     * A `google.protobuf.FileDescriptorSet` of the files that `paths` stand for (.proto files, folders of them, descriptor sets), and of
     * all that they import. Throws `LEAT_RPC`.
     */
    descriptors(paths: string[], includes: string[]): Uint8Array;
    /** The engine's counters in Prometheus' text format. */
    metrics(): string;
    /** Known field names in lower case; the index is the `name_id` of a record and 0 is none of them. */
    names(): string[];
    /** Known methods; the index is the method id of a record and 0 is none of them. */
    methods(): string[];
    /** Reasons by reason id. */
    reasons(): Reason[];
    /** The version of the addon, which is the version of this package. */
    version(): string;
}
