// Certificates and keys in the forms that node:tls takes, as the PEM text that the engine takes.
import { createPrivateKey } from "node:crypto";
import { rootCertificates } from "node:tls";
import { type Settings } from "../native/lane";
import { UnsupportedOptionError } from "./options";

type Tls = NonNullable<Settings["tls"]>;
type Options = Record<string, unknown>;

/** The engine's TLS settings for the options of `https.createServer`. */
export function tlsSettings(options: Options, http2: boolean): Tls {
    const shared = options["passphrase"];
    const key = list(options["key"]).map((one) => decrypted(pem(one, "key"), (isKeyObject(one) ? one.passphrase : undefined) ?? shared));
    const ca = list(options["ca"]).map((one) => pem(one, "ca"));
    const out: Tls = {
        cert: single(list(options["cert"]).map((one) => pem(one, "cert"))),
        key: single(key),
        ALPNProtocols: protocols(options["ALPNProtocols"], http2),
    };
    if (ca.length > 0) out.ca = ca;
    if (options["requestCert"] === true) {
        if (ca.length === 0) out.ca = [...rootCertificates];
        out.requestCert = true;
        out.rejectUnauthorized = options["rejectUnauthorized"] !== false;
    }
    if (typeof options["minVersion"] === "string") out.minVersion = options["minVersion"];
    if (typeof options["maxVersion"] === "string") out.maxVersion = options["maxVersion"];
    return out;
}

function list(value: unknown): unknown[] {
    if (value === undefined || value === null) return [];
    return Array.isArray(value) ? (value as unknown[]) : [value];
}

function single(texts: string[]): string | string[] {
    return texts.length === 1 ? (texts[0] as string) : texts;
}

function isKeyObject(value: unknown): value is { pem: unknown; passphrase?: string } {
    return typeof value === "object" && value !== null && "pem" in value;
}

/** The engine takes keys as they are. A passphrase for one that is not encrypted is no mistake, as by Node. */
function decrypted(key: string, passphrase: unknown): string {
    if (!key.includes("ENCRYPTED") || typeof passphrase !== "string") return key;
    return createPrivateKey({ key, passphrase }).export({ type: "pkcs8", format: "pem" }).toString();
}

function pem(value: unknown, option: string): string {
    if (typeof value === "string") return value;
    if (value instanceof Uint8Array) return Buffer.from(value).toString("latin1");
    if (isKeyObject(value)) return pem(value.pem, option);
    throw new UnsupportedOptionError(option, "give it as PEM text or a Buffer of it");
}

/** Names of protocols in the forms of node:tls: a list, or the wire form of length-prefixed names. */
function protocols(value: unknown, http2: boolean): string[] {
    if (Array.isArray(value)) return value.map(String);
    if (value instanceof Uint8Array) {
        const out: string[] = [];
        for (let at = 0; at < value.length; at += 1 + (value[at] ?? 0)) {
            out.push(Buffer.from(value.subarray(at + 1, at + 1 + (value[at] ?? 0))).toString("latin1"));
        }
        return out;
    }
    return http2 ? ["h2", "http/1.1"] : ["http/1.1"];
}
