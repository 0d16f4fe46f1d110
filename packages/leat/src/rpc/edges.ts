// What the engine does at the edge of a server of RPC: who may call from a page, and how replies are compressed.
import { type Compression } from "@connectrpc/connect/protocol";
import { type RpcSettings } from "../native/lane";

/** The codings that the engine has. */
const CODINGS = ["gzip", "br", "zstd", "deflate"];
/** What connect-node has unless told. */
const CODINGS_DEFAULT = ["gzip", "br"];
/** The shortest message that connect-node compresses unless told, in bytes. */
const COMPRESS_BYTES_MIN = 1024;

/** Which pages may call, and read the replies. Never with credentials. */
export interface CorsOptions {
    /** Origins as browsers send them, such as `https://shop.example`, or `*` for all. */
    origins: readonly string[] | "*";
}

/** For the engine; throws a TypeError for what no browser sends. */
export function corsSettings(cors: CorsOptions | false | undefined): Pick<RpcSettings, "noCors" | "origins"> {
    if (cors === undefined) return {};
    if (cors === false) return { noCors: true };
    const { origins } = cors;
    if (origins === "*") return {};
    if (!Array.isArray(origins)) throw new TypeError("cors.origins must be a list of origins, or \"*\"");
    for (const origin of origins as unknown[]) {
        if (typeof origin !== "string" || originOf(origin) !== origin) throw new TypeError(`cors.origins: ${JSON.stringify(origin)} is no origin as browsers send them, such as "https://shop.example"`);
    }
    return { origins: [...(origins as string[])] };
}

/** For the engine; throws a TypeError for codings that it does not have, and a RangeError for a length that is none. */
export function compressionSettings(accept: readonly (Compression | string)[] | undefined, minBytes = COMPRESS_BYTES_MIN): Pick<RpcSettings, "codings" | "compressMinBytes"> {
    const codings = (accept ?? CODINGS_DEFAULT).map((coding) => (typeof coding === "string" ? coding : coding.name));
    const unknown = codings.find((name) => !CODINGS.includes(name));
    if (unknown !== undefined) throw new TypeError(`acceptCompression: the engine has no ${JSON.stringify(unknown)}; it has ${CODINGS.join(", ")}`);
    if (!(Number.isInteger(minBytes) && minBytes >= 0)) throw new RangeError("compressMinBytes must be a number of bytes");
    return { codings, compressMinBytes: minBytes };
}

/** The origin of a text that is nothing else. URL knows that of the Web's own schemes; apps have others (`capacitor://localhost`). */
function originOf(text: string): string | undefined {
    try {
        const { origin } = new URL(text);
        return origin === "null" ? /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+$/.exec(text)?.[0] : origin;
    } catch {
        return undefined;
    }
}
