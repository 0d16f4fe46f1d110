// `leat/http`: node:http with its servers on Leat's engine. The rest of the module is Node's own.
import * as http from "node:http";
import { checkAddon } from "../native/check";
import { type CreateServer, type TlsOptions } from "./constructor";
import * as https from "./https";
import { createServer as createPlainServer } from "./server";

export type * from "node:http";

export {
    Agent,
    ClientRequest,
    get,
    IncomingMessage,
    METHODS,
    OutgoingMessage,
    request,
    ServerResponse,
    setMaxIdleHTTPParsers,
    STATUS_CODES,
    validateHeaderName,
    validateHeaderValue,
    maxHeaderSize,
} from "node:http";
export { Server, type ServerConstructor, type ServerOptions } from "./server";
export { UnsupportedOptionError } from "./options";
export { metrics } from "./metrics";

/** node:https' servers on Leat's engine. */
export { https };

checkAddon();

/**
 * Makes a server; `requestListener` is called for each request. With `key` and `cert` among the options it speaks TLS, and
 * then it is one of `https`.
 */
export const createServer: CreateServer<"either"> = function createServer(options?: TlsOptions | http.RequestListener, requestListener?: http.RequestListener): http.Server {
    const isSecure = typeof options === "object" && (options as unknown) !== null && (options.key !== undefined || options.cert !== undefined);
    return isSecure ? https.createServer(options, requestListener) : createPlainServer(options, requestListener);
};

type Module = Record<string, unknown>;

export declare let globalAgent: http.Agent;

Object.defineProperty(exports, "globalAgent", {
    enumerable: true,
    configurable: true,
    get: () => http.globalAgent,
    set: (agent: http.Agent) => Object.assign(http, { globalAgent: agent }),
});

// What newer Nodes have besides; read when asked for, since some of it is costly to load.
for (const name of ["_connectionListener", "setGlobalProxyFromEnv", "WebSocket", "CloseEvent", "MessageEvent"]) {
    if (!(name in http)) continue;
    Object.defineProperty(exports, name, { enumerable: true, configurable: true, get: () => (http as unknown as Module)[name] });
}

// What `import http from "leat/http"` reads where a compiler made CommonJS of it; Node itself takes the module.
Object.defineProperty(exports, "default", { enumerable: false, configurable: true, writable: true, value: exports });
