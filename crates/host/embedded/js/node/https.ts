// node:https: requests over TLS. A server over TLS is `leat gateway`'s, or a proxy's in front of this program.
type Client = typeof import("../leat/client");
type Agents = typeof import("../leat/agent");
const client = (): Client => require("../leat/client") as Client;
const agents = (): Agents => require("../leat/agent") as Agents;

export function request(...given: Parameters<Client["secureRequest"]>): ReturnType<Client["secureRequest"]> {
    return client().secureRequest(...given);
}

export function get(...given: Parameters<Client["secureGet"]>): ReturnType<Client["secureGet"]> {
    return client().secureGet(...given);
}

function missing(what: string): never {
    throw Object.assign(new Error(`leat run has no ${what}: let leat gateway end TLS in front of this program, or run it by node --import leat/register`), { code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM" });
}

export function createServer(): never {
    return missing("https.createServer");
}

export function Server(): never {
    return missing("https.Server");
}

declare const module: { exports: object };
for (const [name, from] of [["Agent", "SecureAgent"], ["globalAgent", "secureGlobalAgent"]] as const) {
    Object.defineProperty(module.exports, name, { configurable: true, enumerable: true, get: () => agents()[from] });
}
