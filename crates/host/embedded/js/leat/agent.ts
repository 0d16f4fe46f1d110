// http.Agent and https.Agent. Connections live in the native pools, so an agent only says how: whether they are kept, how many
// requests to one server run at a time, and which certificates are trusted.
import EventEmitter from "node:events";

export interface AgentOptions {
    keepAlive?: boolean;
    keepAliveMsecs?: number;
    maxSockets?: number;
    maxTotalSockets?: number;
    maxFreeSockets?: number;
    timeout?: number;
    scheduling?: string;
    [name: string]: unknown;
}

export class Agent extends EventEmitter {
    static defaultMaxSockets = Infinity;
    defaultPort = 80;
    protocol = "http:";
    options: AgentOptions;
    requests: Record<string, unknown[]> = Object.create(null) as Record<string, unknown[]>;
    sockets: Record<string, unknown[]> = Object.create(null) as Record<string, unknown[]>;
    freeSockets: Record<string, unknown[]> = Object.create(null) as Record<string, unknown[]>;
    keepAlive: boolean;
    keepAliveMsecs: number;
    maxSockets: number;
    maxFreeSockets: number;
    maxTotalSockets: number;
    scheduling: string;
    totalSocketCount = 0;
    #waiting = new Map<string, (() => void)[]>();
    #running = new Map<string, number>();

    constructor(options?: AgentOptions) {
        super();
        this.options = { __proto__: null, ...options } as AgentOptions;
        this.options["noDelay"] ??= true;
        this.options["path"] = null;
        this.keepAlive = options?.keepAlive || false;
        this.keepAliveMsecs = options?.keepAliveMsecs || 1000;
        this.maxSockets = options?.maxSockets || Agent.defaultMaxSockets;
        this.maxFreeSockets = options?.maxFreeSockets || 256;
        this.maxTotalSockets = options?.maxTotalSockets ?? Infinity;
        this.scheduling = options?.scheduling || "lifo";
    }

    /** What tells one server from another. */
    getName(options: { host?: string; port?: number | string; localAddress?: string; family?: number; socketPath?: string } = {}): string {
        let name = `${options.host || "localhost"}:${options.port || ""}:${options.localAddress || ""}`;
        if (options.family === 4 || options.family === 6) name += `:${options.family}`;
        if (options.socketPath) name += `:${options.socketPath}`;
        return name;
    }

    /** Nothing is kept here that would have to be closed: unused connections close by themselves. */
    destroy(): void {
        this.#waiting.clear();
    }

    /** Programs that make connections themselves can't do so here. */
    createConnection(): never {
        throw Object.assign(new Error("leat run makes the connections of requests itself: an agent's createConnection is not there"), { code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM" });
    }

    /** Calls `start` when a request to `name` may run. */
    _admit(name: string, start: () => void): void {
        const running = this.#running.get(name) ?? 0;
        if (running < this.maxSockets && this.totalSocketCount < this.maxTotalSockets) {
            this.#running.set(name, running + 1);
            this.totalSocketCount += 1;
            start();
            return;
        }
        const waiting = this.#waiting.get(name);
        if (waiting === undefined) this.#waiting.set(name, [start]);
        else waiting.push(start);
    }
    /** A request that waited is given up. */
    _leave(name: string, start: () => void): void {
        const left = (this.#waiting.get(name) ?? []).filter((each) => each !== start);
        if (left.length === 0) this.#waiting.delete(name);
        else this.#waiting.set(name, left);
    }
    /** A request to `name` is over. */
    _done(name: string): void {
        const running = (this.#running.get(name) ?? 1) - 1;
        if (running === 0) this.#running.delete(name);
        else this.#running.set(name, running);
        this.totalSocketCount -= 1;
        // Requests to other servers wait only where the total has a limit.
        for (const each of [name, ...this.#waiting.keys()]) {
            const waiting = this.#waiting.get(each);
            const start = waiting?.shift();
            if (waiting?.length === 0) this.#waiting.delete(each);
            if (start !== undefined) {
                this._admit(each, start);
                return;
            }
        }
    }
}

export class SecureAgent extends Agent {
    override defaultPort = 443;
    override protocol = "https:";
    maxCachedSessions: number;
    constructor(options?: AgentOptions) {
        super(options);
        this.maxCachedSessions = (options?.["maxCachedSessions"] as number | undefined) ?? 100;
    }
    override getName(options: Parameters<Agent["getName"]>[0] & { servername?: string; ca?: unknown; rejectUnauthorized?: boolean } = {}): string {
        return `${super.getName(options)}:${options.ca === undefined ? "" : String(options.ca)}:::::${options.servername ?? ""}:${options.rejectUnauthorized ?? ""}`;
    }
}
Object.defineProperty(SecureAgent, "name", { value: "Agent" });

/** What is used where a request names none. */
export const globalAgent = new Agent({ keepAlive: true, scheduling: "lifo", timeout: 5000 });
export const secureGlobalAgent = new SecureAgent({ keepAlive: true, scheduling: "lifo", timeout: 5000 });
