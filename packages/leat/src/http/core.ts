import { AsyncResource } from "node:async_hooks";
import { type Server } from "node:http";
import { getDefaultHighWaterMark } from "node:stream";
import { type Channel } from "./channel";
import { Makers } from "./makers";
import { kOptimizeEmptyRequests } from "./node_symbols";

/** Bytes that may be under way to the engine before a writer has to wait; sockets hold about as many themselves. */
const UNACKNOWLEDGED_MIN = 65_536;

/** What the lane needs of a server, from its `listen` to its last connection. */
export class Core {
    readonly server: Server;
    /** The engine's id of the server. */
    id = -1;
    /** The async context that `listen` was called in, which connections inherit. */
    readonly resource = new AsyncResource("TCPSERVERWRAP");
    readonly highWaterMark: number | undefined;
    readonly unacknowledgedMax: number;
    /** What responses are constructed with. */
    readonly responseOptions: { highWaterMark: number; rejectNonStandardBodyWrites: boolean };
    /** Open connections of the server, those of an earlier `listen` too. */
    readonly channels: Set<Channel>;
    /** Whether requests come over TLS. */
    readonly tls: boolean;
    readonly makers: Makers;
    /** Whether requests without a body skip their stream events. */
    readonly optimizesEmpty: boolean;
    /** The server stopped listening. */
    closed = false;

    constructor(server: Server, tls: boolean, channels: Set<Channel>) {
        this.server = server;
        this.tls = tls;
        this.channels = channels;
        this.makers = new Makers(server);
        this.optimizesEmpty = kOptimizeEmptyRequests !== undefined && (server as unknown as Record<symbol, unknown>)[kOptimizeEmptyRequests] === true;
        const { highWaterMark, rejectNonStandardBodyWrites } = server as unknown as { highWaterMark?: number; rejectNonStandardBodyWrites: boolean };
        this.highWaterMark = highWaterMark;
        const mark = highWaterMark ?? getDefaultHighWaterMark(false);
        this.unacknowledgedMax = Math.max(mark, UNACKNOWLEDGED_MIN);
        this.responseOptions = { highWaterMark: mark, rejectNonStandardBodyWrites };
    }
}
