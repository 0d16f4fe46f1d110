// node:tls for programs that load it and ask whether a socket is one of its: connections over TLS are made by node:https and
// fetch, and taken by servers of node:https. What would need more says so.
import { Duplex } from "node:stream";

function missing(what: string): never {
    throw Object.assign(new Error(`leat run has no ${what}: use node:https or fetch, or run it by node --import leat/register`), {
        code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
    });
}

/** Nothing is made of it here: `instanceof` says so. */
export class TLSSocket extends Duplex {
    constructor() {
        super();
        missing("tls.TLSSocket");
    }
}

/** Sockets of node:https' servers are of a class of their own; they count as this class's too. */
Object.defineProperty(TLSSocket, Symbol.hasInstance, { value: (value: unknown) => typeof value === "object" && value !== null && (value as { encrypted?: unknown }).encrypted === true && value instanceof (require("../http") as typeof import("../http")).Socket });

export class Server {
    constructor() {
        missing("tls.Server");
    }
}

export const connect = (): never => missing("tls.connect");
export const createServer = (): never => missing("tls.createServer");
export const createSecureContext = (): never => missing("tls.createSecureContext");
export const checkServerIdentity = (): never => missing("tls.checkServerIdentity");
export const getCiphers = (): never => missing("tls.getCiphers");
export const rootCertificates: readonly string[] = Object.freeze([]);
export const DEFAULT_MIN_VERSION = "TLSv1.2";
export const DEFAULT_MAX_VERSION = "TLSv1.3";
