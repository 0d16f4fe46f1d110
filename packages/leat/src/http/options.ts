// Options of `createServer` that Leat's engine can't serve: each is refused by name, with what to use instead.

type Options = Record<string, unknown>;

const STAY = "use node:http for this server";
const STAY_TLS = "use node:https for this server";

/** What is refused, when, and what to do. */
const REFUSED_HTTP: [name: string, refused: (value: unknown) => boolean, instead: string][] = [
    ["blockList", (value) => value !== undefined, "refuse clients in the listener by request.socket.remoteAddress, or in the firewall"],
    ["insecureHTTPParser", (value) => value === true, `the engine's parser has no lenient mode; ${STAY}`],
    ["httpValidation", (value) => value !== undefined && value !== "strict", `the engine's parser has no lenient mode; leave it out, or ${STAY}`],
];

/** The handshake's time is the engine's own, and as long as Node's default. */
const HANDSHAKE_MS = 120_000;

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== false;

const REFUSED_TLS: [name: string, refused: (value: unknown) => boolean, instead: string][] = [
    ["SNICallback", isGiven, `give one certificate for all names, or ${STAY_TLS}`],
    ["ALPNCallback", isGiven, "use ALPNProtocols"],
    ["pskCallback", isGiven, "use certificates"],
    ["pskIdentityHint", isGiven, "use certificates"],
    ["pfx", isGiven, "give key and cert as PEM (`openssl pkcs12 -nodes`)"],
    ["secureProtocol", isGiven, "use minVersion and maxVersion"],
    ["secureContext", isGiven, "give key and cert"],
    ["secureOptions", isGiven, "use minVersion and maxVersion"],
    ["maxVersion", (value) => value === "TLSv1" || value === "TLSv1.1", "the engine speaks TLS 1.2 and 1.3"],
    ["handshakeTimeout", (value) => value !== undefined && value !== HANDSHAKE_MS, "leave it out: a handshake may take 120 seconds"],
    ["ciphers", isGiven, "leave it out: the engine offers only ciphers that are safe today"],
    ["ecdhCurve", isGiven, "leave it out: the engine offers X25519, P-256 and P-384"],
    ["sigalgs", isGiven, "leave it out"],
    ["dhparam", isGiven, "leave it out: the engine uses elliptic curves"],
    ["crl", isGiven, STAY_TLS],
    ["ticketKeys", isGiven, "leave it out: tickets are the engine's own"],
    ["privateKeyEngine", isGiven, "give key as PEM"],
    ["privateKeyIdentifier", isGiven, "give key as PEM"],
    ["clientCertEngine", isGiven, "give ca as PEM"],
    ["enableTrace", isGiven, "leave it out"],
];

/** An option or a method that Leat cannot serve. `code` is `LEAT_UNSUPPORTED_OPTION`. */
export class UnsupportedOptionError extends TypeError {
    readonly code = "LEAT_UNSUPPORTED_OPTION";
    /** The option's name. */
    readonly option: string;

    constructor(option: string, instead: string) {
        super(`Leat cannot serve the option '${option}': ${instead}`);
        this.name = "UnsupportedOptionError";
        this.option = option;
    }
}

/** Throws for the first option that cannot be served. */
export function refuseUnsupported(options: unknown, tls: boolean): void {
    if (typeof options !== "object" || options === null) return;
    for (const [name, refused, instead] of tls ? [...REFUSED_HTTP, ...REFUSED_TLS] : REFUSED_HTTP) {
        if (refused((options as Options)[name])) throw new UnsupportedOptionError(name, instead);
    }
}
