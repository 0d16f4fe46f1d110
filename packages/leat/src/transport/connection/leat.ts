// The connection of Leat's own engine: sockets, TLS and HTTP are on its thread, and calls cross to it in batches.
import { type Destination, destination, hangUp, newClient } from "../../native/calls";
import { checkAddon } from "../../native/check";
import { TransportError, wrongOption } from "../error";
import { countOf, durationOf, flagOf, objectOf } from "../given";
import { type Connection, type ConnectionRequest, type ConnectionResponse } from "./connection";
import { Exchange } from "./leat_exchange";
import { Heads, requestLines } from "./leat_head";

/** How the engine connects. */
export interface LeatOptions {
    /** Connections to one origin, the most at a time; calls beyond them wait their turn, and their deadlines go on. Default: 64. */
    readonly connections?: number;
    /** Calls to one origin that wait for a connection, the most; further ones fail with `connection.failed`. Default: 10,000. */
    readonly waitingMax?: number;
    /** How long connecting may take, the look-up of its name and TLS included. Default: 10,000. */
    readonly connectTimeoutMs?: number;
    /** How long a connection is kept that nobody uses; less if the peer says so. Default: 4,000. */
    readonly keepAliveMs?: number;
    /** HTTP/2 and nothing else: settled with TLS, and without it taken for granted. Default: false, which is HTTP/1.1. */
    readonly http2?: boolean;
    readonly tls?: LeatTlsOptions;
}

/** Whose certificates are trusted. All of them are checked. */
export interface LeatTlsOptions {
    /** Certificates in PEM form, in place of the public authorities. */
    readonly ca?: string | Uint8Array | readonly (string | Uint8Array)[];
    /** The name that a certificate must have, in place of the origin's host. */
    readonly servername?: string;
}

/** As with undici's. */
const CONNECTIONS = 64;
const WAITING_MAX = 10_000;
const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 4000;

/**
 * Makes a connection of Leat's engine. It needs the addon, as `leat/http` does.
 *
 * Cost: a request is copied once on its way to the engine's thread, bodies from 64 KiB on not at all; a response's body is copied twice.
 * @throws {TransportError} `options.invalid`; {AddonError} where there is no addon for this host
 */
export function leat(given: LeatOptions = {}): Connection {
    return new LeatConnection(given);
}

/** An origin, as the engine knows it. */
interface Origin {
    readonly number: number;
    readonly heads: Heads;
}

class LeatConnection implements Connection {
    readonly name = "leat";
    readonly #place: Omit<Destination, "client" | "target" | "authority" | "tls">;
    readonly #origins = new Map<string, Origin>();
    #client: number | undefined = undefined;
    /** The exchanges that are under way, the last one first. */
    #first: Exchange | undefined = undefined;
    #isClosed = false;

    constructor(given: LeatOptions) {
        const options = objectOf("the options of leat", given, ["connections", "waitingMax", "connectTimeoutMs", "keepAliveMs", "http2", "tls"]) as LeatOptions;
        this.#place = {
            http2: flagOf("http2", options.http2, false),
            connectionsMax: countOf("connections", options.connections, CONNECTIONS),
            waitingMax: countOf("waitingMax", options.waitingMax, WAITING_MAX, 0),
            connectTimeMs: durationOf("connectTimeoutMs", options.connectTimeoutMs, CONNECT_TIMEOUT_MS),
            idleTimeMs: durationOf("keepAliveMs", options.keepAliveMs, KEEP_ALIVE_MS),
            ...tlsOf(options.tls),
        };
        checkAddon();
    }

    send(request: ConnectionRequest): Promise<ConnectionResponse> {
        return new Promise((resolve, reject) => {
            if (this.#isClosed) {
                reject(new TransportError("transport.closed", "the connection is closed"));
                return;
            }
            const { number, heads } = this.#origins.get(request.origin) ?? this.#find(request.origin);
            const fields = heads.fields(request.headers);
            const head = requestLines(request.method, request.path) + fields.text;
            const exchange = new Exchange(request, resolve, reject, this.#over);
            this.#begun(exchange);
            exchange.start({ destination: number, head, lines: fields.lines, isAscii: fields.isAscii });
        });
    }

    close(): Promise<void> {
        this.#isClosed = true;
        for (let exchange = this.#first; exchange !== undefined; exchange = this.#first) exchange.fail(new TransportError("connection.broken", "the connection was closed while the call was under way"));
        this.#origins.clear();
        if (this.#client !== undefined) hangUp(this.#client);
        this.#client = undefined;
        return Promise.resolve();
    }

    #find(origin: string): Origin {
        const url = URL.canParse(origin) ? new URL(origin) : undefined;
        if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) throw new TransportError("request.invalid", "the origin is none of http: or https:");
        const tls = url.protocol === "https:";
        const target = `${url.hostname}:${url.port === "" ? (tls ? 443 : 80) : url.port}`;
        this.#client ??= newClient();
        let number: number;
        try {
            number = destination({ ...this.#place, client: this.#client, target, authority: url.host, tls });
        } catch (cause) {
            throw new TransportError("options.invalid", `${url.host} cannot be connected to: ${(cause as Error).message}`);
        }
        const found = { number, heads: new Heads(url.host) };
        this.#origins.set(origin, found);
        return found;
    }

    #begun(exchange: Exchange): void {
        const first = this.#first;
        exchange.next = first;
        if (first !== undefined) first.previous = exchange;
        this.#first = exchange;
    }

    readonly #over = (exchange: Exchange): void => {
        const { previous, next } = exchange;
        if (previous === undefined) this.#first = next;
        else previous.next = next;
        if (next !== undefined) next.previous = previous;
        exchange.previous = exchange.next = undefined;
    };
}

function tlsOf(given: LeatTlsOptions | undefined): { ca?: string; serverName?: string } {
    if (given === undefined) return {};
    const { ca, servername } = objectOf("tls", given, ["ca", "servername"]) as LeatTlsOptions;
    if (servername !== undefined && (typeof servername !== "string" || servername === "")) throw wrongOption("tls.servername", servername, "a host's name");
    const found: { ca?: string; serverName?: string } = servername === undefined ? {} : { serverName: servername };
    if (ca === undefined) return found;
    const list: readonly unknown[] = Array.isArray(ca) ? ca : [ca];
    const texts = list.map((each) => (each instanceof Uint8Array ? Buffer.from(each).toString("latin1") : each));
    if (texts.length === 0 || !texts.every((text) => typeof text === "string")) throw wrongOption("tls.ca", ca, "certificates in PEM form: readFileSync(path)");
    return { ...found, ca: texts.join("\n") };
}
