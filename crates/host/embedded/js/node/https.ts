// node:https: requests and servers over TLS, each loaded when it is first used.
type Client = typeof import("../leat/client");
type Agents = typeof import("../leat/agent");
type Servers = typeof import("../leat/tls_server");
const client = (): Client => require("../leat/client") as Client;
const agents = (): Agents => require("../leat/agent") as Agents;
const servers = (): Servers => require("../leat/tls_server") as Servers;

export function request(...given: Parameters<Client["secureRequest"]>): ReturnType<Client["secureRequest"]> {
    return client().secureRequest(...given);
}

export function get(...given: Parameters<Client["secureGet"]>): ReturnType<Client["secureGet"]> {
    return client().secureGet(...given);
}

export function createServer(...given: Parameters<Servers["createServer"]>): ReturnType<Servers["createServer"]> {
    return servers().createServer(...given);
}

declare const module: { exports: object };
const late = (name: string, load: () => unknown): void => void Object.defineProperty(module.exports, name, { configurable: true, enumerable: true, get: load });
late("Agent", () => agents().SecureAgent);
late("globalAgent", () => agents().secureGlobalAgent);
late("Server", () => servers().Server);
