// The default connection: undici's pools, one to an origin.
// First, since undici itself would fail while it is loaded, and not say why.
import "../runtime";
import { Pool, type Dispatcher } from "undici";
import { TransportError, wrongOption } from "../error";
import { countOf, durationOf, flagOf, objectOf } from "../given";
import { type Connection, type ConnectionRequest, type ConnectionResponse } from "./connection";
import { Exchange } from "./undici_exchange";

/** How undici connects. */
export interface UndiciOptions {
    /** Connections to one origin, the most at a time; calls beyond them wait their turn, and their deadlines go on. Default: 64. */
    readonly connections?: number;
    /** How long connecting may take, TLS included. Default: 10,000. */
    readonly connectTimeoutMs?: number;
    /** How long a connection is kept that nobody uses; less if the peer says so. Default: 4,000. */
    readonly keepAliveMs?: number;
    /** Offers HTTP/2 to origins with TLS. Default: false. */
    readonly http2?: boolean;
    /** Settings of `tls.connect`: `ca`, `cert`, `key`, `servername`, `rejectUnauthorized` … */
    readonly tls?: object;
    /** A dispatcher of your own (`ProxyAgent`, `Agent`, `MockAgent`), in place of all above. It is yours to close. */
    readonly dispatcher?: Dispatcher;
}

/** Elasticsearch's and most servers' back ends are busy with fewer. */
const CONNECTIONS = 64;
const CONNECT_TIMEOUT_MS = 10_000;
/** Less than servers keep theirs (Node's: 5,000), so that seldom one is used that the peer is closing. */
const KEEP_ALIVE_MS = 4000;

/**
 * Makes a connection of undici's.
 *
 * Cost: a request is copied by undici into its own; of a body that comes in one piece no copy is made.
 * @throws {TransportError} `options.invalid`
 */
export function undici(given: UndiciOptions = {}): Connection {
    return new UndiciConnection(given);
}

class UndiciConnection implements Connection {
    readonly name = "undici";
    readonly #pools = new Map<string, Pool>();
    readonly #options: Pool.Options;
    readonly #dispatcher: Dispatcher | undefined;
    #isClosed = false;

    constructor(given: UndiciOptions) {
        const options = objectOf("the options of undici", given, ["connections", "connectTimeoutMs", "keepAliveMs", "http2", "tls", "dispatcher"]) as UndiciOptions;
        const { dispatcher, tls } = options;
        if (dispatcher !== undefined && typeof dispatcher.dispatch !== "function") throw wrongOption("dispatcher", dispatcher, "a dispatcher of undici's: new ProxyAgent(url)");
        if (tls !== undefined && (typeof tls !== "object" || (tls as unknown) === null)) throw wrongOption("tls", tls, "an object: { ca }");
        this.#dispatcher = dispatcher;
        this.#options = {
            connections: countOf("connections", options.connections, CONNECTIONS),
            connectTimeout: durationOf("connectTimeoutMs", options.connectTimeoutMs, CONNECT_TIMEOUT_MS),
            keepAliveTimeout: durationOf("keepAliveMs", options.keepAliveMs, KEEP_ALIVE_MS),
            allowH2: flagOf("http2", options.http2, false),
            // With more, undici would send again by itself what stood behind a request that failed.
            pipelining: 1,
            // The call's deadline is the only one.
            headersTimeout: 0,
            bodyTimeout: 0,
            ...(tls === undefined ? {} : { connect: tls }),
        };
    }

    send(request: ConnectionRequest): Promise<ConnectionResponse> {
        return new Promise((resolve, reject) => {
            if (this.#isClosed) {
                reject(new TransportError("transport.closed", "the connection is closed"));
                return;
            }
            const exchange = new Exchange(request, resolve, reject);
            if (exchange.isOver) return;
            (this.#dispatcher ?? this.#pool(request.origin)).dispatch(optionsOf(request), exchange);
        });
    }

    async close(): Promise<void> {
        this.#isClosed = true;
        const pools = [...this.#pools.values()];
        this.#pools.clear();
        await Promise.all(pools.map((pool) => pool.destroy()));
    }

    #pool(origin: string): Pool {
        let pool = this.#pools.get(origin);
        if (pool === undefined) {
            pool = new Pool(origin, this.#options);
            this.#pools.set(origin, pool);
        }
        return pool;
    }
}

/** Types ask for mutable arrays in headers and for a `Readable`; arrays are only read, and any iterable is taken. */
function optionsOf({ origin, method, path, headers, body }: ConnectionRequest): Dispatcher.DispatchOptions {
    // Without timers of undici's: the call's deadline is the only one, also with a dispatcher that has others.
    return { origin, method, path, headers, body: body ?? null, headersTimeout: 0, bodyTimeout: 0 } as unknown as Dispatcher.DispatchOptions;
}
