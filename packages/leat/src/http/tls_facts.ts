// What programs ask of a TLS socket: what the engine's handshake settled, in the words of node:tls.
import { X509Certificate } from "node:crypto";
import { type Facts, type Handshake } from "./channel";
import { type LeatSocket } from "./socket";

/** OpenSSL's names of the suites of TLS 1.2 that the engine speaks; those of TLS 1.3 have the same name everywhere. */
const OPENSSL_NAMES: Record<string, string> = {
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: "ECDHE-ECDSA-AES128-GCM-SHA256",
    TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: "ECDHE-ECDSA-AES256-GCM-SHA384",
    TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-ECDSA-CHACHA20-POLY1305",
    TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: "ECDHE-RSA-AES128-GCM-SHA256",
    TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: "ECDHE-RSA-AES256-GCM-SHA384",
    TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-RSA-CHACHA20-POLY1305",
};

/** Puts them on the socket. `asked` tells whether clients are asked for a certificate. */
export function tlsFacts(socket: LeatSocket, facts: Facts, asked: boolean): void {
    const { serverName, alpn, handshake } = facts;
    if (handshake === undefined) return;
    const problem = handshake.certificate === undefined ? "UNABLE_TO_GET_ISSUER_CERT" : handshake.problem;
    Object.assign(socket, {
        encrypted: true,
        authorized: asked && problem === "",
        authorizationError: asked && problem !== "" ? problem : null,
        servername: serverName === "" ? false : serverName,
        alpnProtocol: alpn === "" ? false : alpn,
        getCipher: () => cipherOf(handshake),
        getPeerCertificate: () => certificateOf(handshake)?.toLegacyObject() ?? {},
        getPeerX509Certificate: () => certificateOf(handshake),
        getProtocol: () => handshake.version,
        getSession: () => undefined,
        isSessionReused: () => false,
    });
}

function cipherOf({ cipher, version }: Handshake): { name: string; standardName: string; version: string } {
    // The standard names of TLS 1.3 leave `13` out, which the engine's have.
    const standardName = cipher.replace(/^TLS13_/, "TLS_");
    return { name: OPENSSL_NAMES[standardName] ?? standardName, standardName, version };
}

function certificateOf({ certificate }: Handshake): X509Certificate | undefined {
    return certificate === undefined ? undefined : new X509Certificate(certificate);
}
