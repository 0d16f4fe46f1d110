// Servers over TLS, which the engine ends: what their options become, and their sockets' answers, as the handshake settled them.
import { engine, Server as PlainServer, Socket } from "../http";
import type { Line } from "../http/line";
import type { Handshake } from "../http/native";
import { refuseUnsupported, UnsupportedOptionError } from "../../../../../packages/leat/src/http/options";
import { tlsSettings } from "../../../../../packages/leat/src/http/tls_settings";
import { coded, codes } from "./errors";
import { refuseHttp2 } from "./http1_only";

type Options = Record<string, unknown>;
type Listener = (...args: unknown[]) => void;

/** OpenSSL's names of the suites of TLS 1.2 that the engine speaks; those of TLS 1.3 have the same name everywhere. */
const OPENSSL_NAMES: Record<string, string> = {
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: "ECDHE-ECDSA-AES128-GCM-SHA256",
    TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: "ECDHE-ECDSA-AES256-GCM-SHA384",
    TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-ECDSA-CHACHA20-POLY1305",
    TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: "ECDHE-RSA-AES128-GCM-SHA256",
    TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: "ECDHE-RSA-AES256-GCM-SHA384",
    TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-RSA-CHACHA20-POLY1305",
};

const { Server: Base } = { Server: PlainServer as unknown as new (options: object, listener?: Listener) => Omit<PlainServer, "_options"> & { _options: Options; _number: number; timeout: number } };

/** What the engine takes. Lists, also of one. */
function settingsOf(options: Options): object {
    const { cert, key, ...more } = tlsSettings(options, false);
    if (more.ALPNProtocols?.includes("h2")) refuseHttp2("ALPNProtocols", "of its names 'h2': ");
    const list = (text: string | string[]): string[] => (typeof text === "string" ? [text] : text);
    return { ...more, cert: list(cert), key: list(key), ...(more.ca === undefined ? {} : { ca: list(more.ca) }) };
}

/** The first block of PEM text, or an error as OpenSSL has it. */
function checkPem(options: Options): void {
    for (const name of ["cert", "key"]) {
        for (const one of [options[name]].flat()) {
            if (one === undefined || one === null) continue;
            const text = typeof one === "object" && "pem" in one ? (one as { pem: unknown }).pem : one;
            if (String(text).includes("-----BEGIN ")) continue;
            if (name === "key") throw Object.assign(new Error("error:1E08010C:DECODER routines::unsupported"), { library: "DECODER routines", reason: "unsupported", code: "ERR_OSSL_UNSUPPORTED" });
            throw Object.assign(new Error("error:0480006C:PEM routines::no start line"), { library: "PEM routines", reason: "no start line", code: "ERR_OSSL_PEM_NO_START_LINE" });
        }
    }
}

/** A server of HTTP over TLS. */
class SecureServer extends Base {
    #tls: Options;

    constructor(options?: Options | Listener, listener?: Listener) {
        const given = typeof options === "function" ? {} : (options ?? {});
        refuseUnsupported(given, true);
        checkPem(given);
        super(given, typeof options === "function" ? options : listener);
        this.#tls = given;
        // A handshake that fails is a client's error too.
        this.on("tlsClientError", (error: Error, socket: object) => {
            if (!this.emit("clientError", error, socket)) (socket as { destroy(error: Error): void }).destroy(error);
        });
        this._options = { ...given, tls: settingsOf(given) };
    }

    /** Changes certificate and key, of new connections. */
    setSecureContext(options: Options): void {
        refuseUnsupported(options, true);
        checkPem(options);
        this.#tls = { ...this.#tls, ...options };
        this._options["tls"] = settingsOf(this.#tls);
        if (this._number >= 0) engine.settings(this._number, { tls: this._options["tls"] as object });
    }

    addContext(): never {
        throw new UnsupportedOptionError("addContext", "give one certificate for all names, or use node:https for this server");
    }

    setTicketKeys(): never {
        throw new UnsupportedOptionError("ticketKeys", "leave it out: tickets are the engine's own");
    }

    getTicketKeys(): never {
        throw new UnsupportedOptionError("ticketKeys", "leave it out: tickets are the engine's own");
    }
}
Object.defineProperty(SecureServer, "name", { value: "Server" });

/** The constructor, which may be called with or without `new`. */
export const Server = new Proxy(SecureServer, { apply: (_target, _self, [options, listener]: [Options?, Listener?]) => new SecureServer(options, listener) });
Object.defineProperty(SecureServer.prototype, "constructor", { value: Server });

export function createServer(options?: Options | Listener, listener?: Listener): SecureServer {
    return new SecureServer(options, listener);
}

function missing(method: string): Error {
    return coded(new Error(`The ${method}() method is not implemented`), "ERR_METHOD_NOT_IMPLEMENTED");
}

/** The socket of a connection that is encrypted. */
export class TlsSocket extends Socket {
    readonly #handshake: Handshake;
    override encrypted = true;
    readonly authorized: boolean;
    readonly authorizationError: string | null;
    readonly servername: string | false;
    readonly alpnProtocol: string | false;
    readonly secureConnecting = false;

    constructor(line: Line, handshake: Handshake) {
        super(line);
        this.#handshake = handshake;
        const asked = (line.server._options as unknown as Options)["requestCert"] === true;
        const problem = handshake.certificate === undefined ? "UNABLE_TO_GET_ISSUER_CERT" : (handshake.problem ?? "");
        this.authorized = asked && problem === "";
        this.authorizationError = asked && problem !== "" ? problem : null;
        this.servername = handshake.serverName === "" ? false : handshake.serverName;
        this.alpnProtocol = handshake.alpn === "" ? false : handshake.alpn;
    }

    getProtocol(): string | null {
        return this.#handshake.version === "" ? null : this.#handshake.version;
    }

    getCipher(): object | undefined {
        const { cipher, version } = this.#handshake;
        if (version === "") return undefined;
        // The standard names of TLS 1.3 leave `13` out, which the engine's have.
        const standardName = cipher.replace(/^TLS13_/, "TLS_");
        return { name: OPENSSL_NAMES[standardName] ?? standardName, standardName, version };
    }

    /** What the client showed: its bytes alone, since nothing here takes certificates apart. */
    getPeerCertificate(): object {
        const { certificate } = this.#handshake;
        return certificate === undefined ? {} : { raw: Buffer.from(certificate) };
    }

    getPeerX509Certificate(): undefined {
        if (this.#handshake.certificate !== undefined) throw missing("getPeerX509Certificate");
        return undefined;
    }

    getX509Certificate(): never {
        throw missing("getX509Certificate");
    }

    getCertificate(): never {
        throw missing("getCertificate");
    }

    getSharedSigalgs(): string[] {
        return [];
    }

    getEphemeralKeyInfo(): null {
        return null;
    }

    getSession(): undefined {
        return undefined;
    }

    getTLSTicket(): undefined {
        return undefined;
    }

    getFinished(): undefined {
        return undefined;
    }

    getPeerFinished(): undefined {
        return undefined;
    }

    setServername(): never {
        throw missing("setServername");
    }

    setSession(): never {
        throw missing("setSession");
    }

    isSessionReused(): boolean {
        return false;
    }

    setMaxSendFragment(): boolean {
        return false;
    }

    enableTrace(): void {
        // Nothing is shown: the engine's handshakes are its own.
    }

    disableRenegotiation(): void {
        // The engine never renegotiates.
    }

    renegotiate(_options: object, callback?: (error: Error) => void): boolean {
        if (callback !== undefined) process.nextTick(callback, missing("renegotiate"));
        return false;
    }

    exportKeyingMaterial(): never {
        throw missing("exportKeyingMaterial");
    }

    setKeyCert(): never {
        throw missing("setKeyCert");
    }
}
Object.defineProperty(TlsSocket, "name", { value: "TLSSocket" });

/** Why a TLS handshake failed, as Node tells it. */
export function handshakeError(code: string, words: string): Error {
    if (code === "ECONNRESET") {
        const error = Object.assign(new Error(words), { code });
        return words.startsWith("read") ? Object.assign(error, { errno: -104, syscall: "read" }) : error;
    }
    if (code === "ERR_TLS_HANDSHAKE_TIMEOUT") return new codes.ERR_TLS_HANDSHAKE_TIMEOUT();
    if (!code.startsWith("ERR_SSL_")) return coded(new Error(words), code);
    return Object.assign(new Error(`error:SSL routines::${words}`), { library: "SSL routines", reason: words, code });
}
