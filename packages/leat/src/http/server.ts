import { type RequestListener, type Server as HttpServer } from "node:http";
import { type Channel } from "./channel";
import { type AnyResponseClass, type PlainOptions, type RequestClass, type ResponseClass, type ServerConstructor } from "./constructor";
import { kChannels, kReusePort, listen2, type ListeningServer } from "./listen";
import { NODE_MAJOR, NodeServer } from "./node_symbols";
import { refuseUnsupported } from "./options";
import { defineSettings, kHttp2 } from "./settings";
import { isLeatSocket } from "./socket";

export type { PlainOptions as ServerOptions, ServerConstructor } from "./constructor";

type Construct = (this: unknown, options: unknown, listener: unknown) => void;

/** What takes node:http's server takes this one. */
export type Server<Request extends RequestClass = RequestClass, Response extends ResponseClass<Request> = AnyResponseClass> = HttpServer<Request, Response>;

/** node:http's server, on Leat's engine. */
export const Server: ServerConstructor = function Server(this: unknown, options?: unknown, requestListener?: unknown): unknown {
    if (!(this instanceof (Server as unknown as new () => HttpServer))) return new (Server as ServerConstructor)(options as PlainOptions, requestListener as RequestListener);
    const given = typeof options === "function" ? undefined : options;
    refuseUnsupported(given, false);
    (NodeServer as unknown as { call: (self: unknown, ...args: Parameters<Construct>) => void }).call(this, options, requestListener);
    prepare(this, given);
    return undefined;
} as unknown as ServerConstructor;

inherit(Server, NodeServer);
serveOnLane(Server.prototype);

/** Makes a server; `requestListener` is called for each request. */
export function createServer(options?: PlainOptions | RequestListener, requestListener?: RequestListener): HttpServer {
    return new Server(options as PlainOptions, requestListener);
}

/** Makes `constructor` a subclass of `parent`, as `util.inherits` and `Object.setPrototypeOf` together do. */
export function inherit(constructor: object, parent: object): void {
    Object.setPrototypeOf((constructor as { prototype: object }).prototype, (parent as { prototype: object }).prototype);
    Object.setPrototypeOf(constructor, parent);
}

/** Finishes a server that Node constructed: its own listeners are for sockets that come from elsewhere. */
export function prepare(server: HttpServer, options: unknown): void {
    for (const event of ["connection", "secureConnection"]) {
        for (const listener of server.listeners(event) as ((this: unknown, socket: unknown) => void)[]) {
            server.removeListener(event, listener);
            server.on(event, function forForeignSockets(this: unknown, socket: unknown) {
                if (!isLeatSocket(socket as object)) listener.call(this, socket);
            });
        }
    }
    const prepared = server as unknown as ListeningServer;
    prepared[kChannels] = new Set();
    prepared[kHttp2] = (options as PlainOptions | undefined)?.http2 === true;
}

/** Puts the methods that speak to the engine on a prototype which inherits from one of Node's servers. */
export function serveOnLane(prototype: object): void {
    defineSettings(prototype);
    const parent = Object.getPrototypeOf(prototype) as HttpServer;
    const methods = {
        _listen2: listen2,
        listen(this: ListeningServer, ...args: unknown[]): HttpServer {
            const [options] = args;
            this[kReusePort] = typeof options === "object" && options !== null && (options as { reusePort?: boolean }).reusePort === true;
            return (parent.listen as (...args: unknown[]) => HttpServer).apply(this, args);
        },
        closeAllConnections(this: ListeningServer): void {
            parent.closeAllConnections.call(this);
            for (const channel of [...this[kChannels]]) {
                // Upgraded ones are the program's, as by Node.
                if (!channel.isOpaque) channel.socket.destroy();
            }
        },
        closeIdleConnections(this: ListeningServer): void {
            parent.closeIdleConnections.call(this);
            const channels = [...this[kChannels]];
            const busy = new Set(channels.filter((channel) => channel.h2).map((channel) => channel.id));
            for (const channel of channels) {
                if (isIdle(channel)) channel.socket.destroy();
                // By GOAWAY, so that a request that is on its way meanwhile is still answered.
                else if (!busy.has(channel.id) && (channel.hasStreamed || (NODE_MAJOR >= 26 && channel.requests === 0))) channel.closeIfSilent();
            }
        },
    };
    for (const [name, value] of Object.entries(methods)) {
        Object.defineProperty(prototype, name, { configurable: true, writable: true, enumerable: true, value });
    }
}

/**
 * A connection between two requests. One that has not sent any yet is waited for, as by Node before version 26, and so is
 * one whose request was answered, but has not come to its end, since its handler runs.
 */
function isIdle(channel: Channel): boolean {
    return channel.requests > 0 && channel.replyDone && channel.bodyDone && !channel.telling && !channel.isOpaque;
}
