// `leat/http`: node:http with its servers on Leat's engine. The rest of the module is Node's own.
import * as http from "node:http";
import * as https from "./https";

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
export { createServer, Server, type ServerConstructor, type ServerOptions } from "./server";
export { UnsupportedOptionError } from "./options";

/** node:https' servers on Leat's engine. */
export { https };

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
