// Native exchanges with servers. There is one group of them in a world, so that `fetch` and node:http share their connections.

/** What is asked for; names and values in `fields` have no character above U+00FF and no CR, LF or NUL. */
export interface Asked {
    isTLS: boolean;
    /** A name, an address without brackets, or the path of a Unix socket. */
    host: string;
    port: number;
    isUnix: boolean;
    serverName?: string | undefined;
    /** Trusted certificates in PEM. */
    authorities?: string | undefined;
    method: string;
    path: string;
    /** Names and values in turn; without Transfer-Encoding. */
    fields: string[];
    /** Bytes of the body, -1 for chunks, -2 for none. */
    length: number;
    /** Whether content codings are undone. */
    inflates: boolean;
    /** Longest wait for the head of a response, in milliseconds; 0: for ever. */
    headMs: number;
    /** Longest wait for the next piece. */
    idleMs: number;
}

/** What an exchange tells, see `native/fetch/event.rs`. */
export const enum Told {
    Connected,
    Interim,
    Response,
    Data,
    End,
    Failed,
    Drained,
    Sent,
}

/** Hears of an exchange. What it returns says for `Response` and `Data` whether the next piece is wanted. */
export type Listener = (told: Told, one?: unknown, two?: unknown, three?: unknown, four?: unknown, five?: unknown) => boolean;

export const { start, write, end, read, abort } = native("fetch") as {
    start(asked: Asked, on: Listener): number;
    /** Whether there is room for more; if not, `Drained` follows. */
    write(id: number, bytes: Uint8Array | string): boolean;
    end(id: number): void;
    read(id: number): void;
    abort(id: number): void;
};

/** RFC 9110 section 5.6.2. */
export const isToken = (text: string): boolean => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);
/** Whether it can be sent as a field's value, byte by character. */
export const isValue = (text: string): boolean => !/[^\t\x20-\x7e\x80-\xff]/.test(text);

interface SystemError extends Error {
    code?: string;
    errno?: number;
    syscall?: string;
    hostname?: string;
    address?: string;
    port?: number;
}

/** What Node says where a name has no address, or nobody listens. */
export function connectError(kind: string, asked: Pick<Asked, "host" | "port" | "isUnix">): SystemError {
    const { host, port, isUnix } = asked;
    if (kind === "resolve") {
        return Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { errno: -3008, code: "ENOTFOUND", syscall: "getaddrinfo", hostname: host });
    }
    const where = { errno: -111, code: "ECONNREFUSED", syscall: "connect" };
    if (isUnix) return Object.assign(new Error(`connect ENOENT ${host}`), { ...where, errno: -2, code: "ENOENT", address: host });
    const refused = (address: string): SystemError => {
        return Object.assign(new Error(`connect ECONNREFUSED ${address}:${port}`), { ...where, address, port });
    };
    if (/^[\d.]+$|:/.test(host)) return refused(host);
    // Node tells of every address of a name that it tried.
    if (host === "localhost") return Object.assign(new AggregateError([refused("::1"), refused("127.0.0.1")]), { code: "ECONNREFUSED" });
    return refused(host);
}
