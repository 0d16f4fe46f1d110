// The socket of a TLS connection: a tls.TLSSocket to programs, whose answers are what the engine's handshake settled.
import { X509Certificate } from "node:crypto";
import { TLSSocket } from "node:tls";
import { type Channel, type Handshake } from "./channel";
import { nodeError } from "./client_error";
import { asksCertificate, ownCertificate } from "./settings";
import { kChannel, LeatSocket } from "./socket";

/** OpenSSL's names of the suites of TLS 1.2 that the engine speaks; those of TLS 1.3 have the same name everywhere. */
const OPENSSL_NAMES: Record<string, string> = {
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: "ECDHE-ECDSA-AES128-GCM-SHA256",
    TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: "ECDHE-ECDSA-AES256-GCM-SHA384",
    TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-ECDSA-CHACHA20-POLY1305",
    TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: "ECDHE-RSA-AES128-GCM-SHA256",
    TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: "ECDHE-RSA-AES256-GCM-SHA384",
    TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-RSA-CHACHA20-POLY1305",
};

/** What a TLSSocket has besides its documented members. */
interface TlsState {
    encrypted: boolean;
    authorized: boolean;
    authorizationError: string | null;
    servername: string | false;
    alpnProtocol: string | false;
    secureConnecting: boolean;
    _secureEstablished: boolean;
    _controlReleased: boolean;
    ssl: unknown;
    _handle: unknown;
}

/**
 * Its prototype is made once, from both: everything that LeatSocket does, above everything that TLSSocket inherits. Its
 * constructor is LeatSocket's, since that of TLSSocket wants OpenSSL's handle.
 */
const LeatTlsSocket = function TLSSocket(): void {
    throw new TypeError("Illegal constructor");
};

const answers = {
    getCipher(this: LeatSocket): unknown {
        const handshake = handshakeOf(this);
        return handshake === undefined ? undefined : cipherOf(handshake);
    },
    getProtocol(this: LeatSocket): string | null {
        return handshakeOf(this)?.version ?? null;
    },
    getPeerX509Certificate(this: LeatSocket): X509Certificate | undefined {
        const certificate = handshakeOf(this)?.certificate;
        return certificate === undefined ? undefined : new X509Certificate(certificate);
    },
    getPeerCertificate(this: LeatSocket): unknown {
        return answers.getPeerX509Certificate.call(this)?.toLegacyObject() ?? {};
    },
    getX509Certificate(this: LeatSocket): X509Certificate | undefined {
        return ownCertificate(this[kChannel].core.server);
    },
    getCertificate(this: LeatSocket): unknown {
        return answers.getX509Certificate.call(this)?.toLegacyObject() ?? {};
    },
    getSharedSigalgs: (): string[] => [],
    getEphemeralKeyInfo: (): null => null,
    getSession: (): undefined => undefined,
    getTLSTicket: (): undefined => undefined,
    getFinished: (): undefined => undefined,
    getPeerFinished: (): undefined => undefined,
    isSessionReused: (): boolean => false,
    setMaxSendFragment: (): boolean => false,
    enableTrace: (): void => undefined,
    disableRenegotiation: (): void => undefined,
    renegotiate(...[, callback]: [options: unknown, callback?: (error: Error) => void]): boolean {
        if (callback !== undefined) process.nextTick(callback, missing("renegotiate"));
        return false;
    },
    exportKeyingMaterial(): never {
        throw missing("exportKeyingMaterial");
    },
    setKeyCert(): never {
        throw missing("setKeyCert");
    },
};

const prototype = Object.create(TLSSocket.prototype, {
    ...Object.getOwnPropertyDescriptors(LeatSocket.prototype),
    ...Object.getOwnPropertyDescriptors(answers),
    constructor: { value: LeatTlsSocket, configurable: true, writable: true },
}) as object;
LeatTlsSocket.prototype = prototype;
Object.setPrototypeOf(LeatTlsSocket, TLSSocket);

/** The socket of a connection that is encrypted. */
export function tlsSocketFor(channel: Channel, highWaterMark: number | undefined): LeatSocket {
    const socket = Reflect.construct<ConstructorParameters<typeof LeatSocket>, LeatSocket>(LeatSocket, [channel, highWaterMark], LeatTlsSocket as unknown as new () => LeatSocket);
    const { serverName, alpn, handshake } = channel.facts;
    const asked = asksCertificate(channel.core.server);
    const problem = handshake?.certificate === undefined ? "UNABLE_TO_GET_ISSUER_CERT" : handshake.problem;
    const state = socket as unknown as TlsState;
    state.encrypted = true;
    state.authorized = asked && problem === "";
    state.authorizationError = asked && problem !== "" ? problem : null;
    state.servername = serverName === "" ? false : serverName;
    state.alpnProtocol = alpn === "" ? false : alpn;
    state.secureConnecting = false;
    state._secureEstablished = state._controlReleased = handshake !== undefined;
    state.ssl = state._handle;
    return socket;
}

function handshakeOf(socket: LeatSocket): Handshake | undefined {
    return socket[kChannel].facts.handshake;
}

function missing(method: string): Error {
    return nodeError("ERR_METHOD_NOT_IMPLEMENTED", `The ${method}() method is not implemented`);
}

function cipherOf({ cipher, version }: Handshake): { name: string; standardName: string; version: string } {
    // The standard names of TLS 1.3 leave `13` out, which the engine's have.
    const standardName = cipher.replace(/^TLS13_/, "TLS_");
    return { name: OPENSSL_NAMES[standardName] ?? standardName, standardName, version };
}
