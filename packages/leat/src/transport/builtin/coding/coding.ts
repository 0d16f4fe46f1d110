// Content codings (RFC 9110 section 8.4.1) that this Node.js has.
import zlib = require("node:zlib");
import { type Duplex } from "node:stream";

/** `zstd` is in Node.js from 22.15 and 23.8 on. */
export type Coding = "gzip" | "br" | "zstd";
export const CODINGS: readonly Coding[] = ["gzip", "br", "zstd"];

interface ZlibLimits {
    readonly maxOutputLength?: number;
}

/** One coding. */
export interface Coder {
    readonly encodeSync: (bytes: Uint8Array | string) => Buffer;
    readonly encoder: () => Duplex;
    /** Throws `ERR_BUFFER_TOO_LARGE` beyond `maxOutputLength`. */
    readonly decodeSync: (bytes: Uint8Array, limits: ZlibLimits) => Buffer;
    /** `bytesWritten` counts what it has decoded of its input. */
    readonly decoder: () => Duplex & { readonly bytesWritten: number };
}

/** What newer Nodes have and the declarations of the oldest do not. */
interface Newer {
    readonly zstdCompressSync?: Coder["encodeSync"];
    readonly zstdDecompressSync?: Coder["decodeSync"];
    readonly createZstdCompress?: Coder["encoder"];
    readonly createZstdDecompress?: Coder["decoder"];
}

const { constants } = zlib;
/** A body is sent once, and all the time that goes into it is the call's: the fast levels save nearly as much. */
const GZIP = { level: constants.Z_BEST_SPEED };
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const gzip: Coder = {
    encodeSync: (bytes) => zlib.gzipSync(bytes, GZIP),
    encoder: () => zlib.createGzip(GZIP),
    decodeSync: (bytes, limits) => zlib.gunzipSync(bytes, limits),
    decoder: () => zlib.createGunzip(),
};
const br: Coder = {
    encodeSync: (bytes) => zlib.brotliCompressSync(bytes, BROTLI),
    encoder: () => zlib.createBrotliCompress(BROTLI),
    decodeSync: (bytes, limits) => zlib.brotliDecompressSync(bytes, limits),
    decoder: () => zlib.createBrotliDecompress(),
};

function zstdOf({ zstdCompressSync, zstdDecompressSync, createZstdCompress, createZstdDecompress }: Newer): Coder | undefined {
    if (!zstdCompressSync || !zstdDecompressSync || !createZstdCompress || !createZstdDecompress) return undefined;
    return { encodeSync: zstdCompressSync, encoder: createZstdCompress, decodeSync: zstdDecompressSync, decoder: createZstdDecompress };
}

const CODERS: Readonly<Record<Coding, Coder | undefined>> = { gzip, br, zstd: zstdOf(zlib as Newer) };

/** The coder of a coding; undefined if this Node.js has none. */
export function coderOf(coding: Coding): Coder | undefined {
    return CODERS[coding];
}

/** The coder of a name in `content-encoding`; undefined if it is unknown here. */
export function coderNamed(name: string): Coder | undefined {
    const coding = name === "x-gzip" ? "gzip" : name;
    return Object.hasOwn(CODERS, coding) ? CODERS[coding as Coding] : undefined;
}
