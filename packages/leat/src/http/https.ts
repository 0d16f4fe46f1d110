import { type RequestListener } from "node:http";
import { type Server as HttpsServer } from "node:https";
import * as nodeHttps from "node:https";
import { type AnyResponseClass, type CreateServer, type RequestClass, type ResponseClass, type ServerConstructor, type TlsOptions } from "./constructor";
import { refuseUnsupported, UnsupportedOptionError } from "./options";
import { inherit, prepare, serveOnLane } from "./server";
import { kHttp2, kTls, pushSettings, type ServerSettings } from "./settings";
import { tlsSettings } from "./tls_settings";

// Captured at load, as the other classes of Node.
const NodeHttpsServer = nodeHttps.Server;

export type { TlsOptions as ServerOptions } from "./constructor";

/** What takes node:https' server takes this one. */
export type Server<Request extends RequestClass = RequestClass, Response extends ResponseClass<Request> = AnyResponseClass> = HttpsServer<Request, Response>;

/** node:https' server, on Leat's engine. */
export const Server: ServerConstructor<"tls"> = function Server(this: unknown, options?: unknown, requestListener?: unknown): unknown {
    if (!(this instanceof (Server as unknown as new () => HttpsServer))) return new (Server as ServerConstructor<"tls">)(options as TlsOptions, requestListener as RequestListener);
    const given = typeof options === "function" ? undefined : options;
    refuseUnsupported(given, true);
    // `setSecureContext` runs within Node's constructor, and keeps the options.
    (NodeHttpsServer as unknown as { call: (self: unknown, options: unknown, listener: unknown) => void }).call(this, options, requestListener);
    // Node's constructor names HTTP/1.1 alone where nothing was named; what is offered then is settled when it listens.
    const named = (given as TlsOptions | undefined)?.ALPNProtocols;
    if (named === undefined) delete (this as unknown as TlsServer)[kTls]?.["ALPNProtocols"];
    prepare(this, given);
    return undefined;
} as unknown as ServerConstructor<"tls">;

inherit(Server, NodeHttpsServer);
serveOnLane(Server.prototype);

interface TlsServer extends ServerSettings {
    [kTls]: Record<string, unknown> | undefined;
}

const methods = {
    /** Changes certificate and key, of new connections. */
    setSecureContext(this: TlsServer, options: Record<string, unknown>): void {
        refuseUnsupported(options, true);
        (NodeHttpsServer.prototype as unknown as { setSecureContext: (this: unknown, options: unknown) => void }).setSecureContext.call(this, options);
        this[kTls] = { ...this[kTls], ...options };
        pushSettings(this, { tls: tlsSettings(this[kTls], this[kHttp2] === true) });
    },
    addContext(): void {
        throw new UnsupportedOptionError("addContext", "give one certificate for all names, or use node:https for this server");
    },
    setTicketKeys(): void {
        throw new UnsupportedOptionError("ticketKeys", "leave it out: tickets are the engine's own");
    },
};

for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(Server.prototype, name, { configurable: true, writable: true, enumerable: true, value });
}

/** Makes a TLS server; `requestListener` is called for each request. */
export const createServer: CreateServer<"tls"> = function createServer(options?: TlsOptions | RequestListener, requestListener?: RequestListener): HttpsServer {
    return new Server(options as TlsOptions, requestListener);
};
