// What the forms of `node:zlib` share: the native codecs, their settings, and the errors of both.
import { codedRangeError, invalidType, outOfRange } from "./coded";
import { codes } from "./errors";

export interface Engine {
    readonly consumed: number;
    readonly more: boolean;
    readonly ended: boolean;
    step(input: Uint8Array, from: number, flush: number, room: number): ArrayBuffer | undefined;
    params(level: number, strategy: number): boolean;
}
interface Native {
    open(mode: number, settings: number[], dictionary: Uint8Array | null): Engine;
    once(mode: number, settings: number[], dictionary: Uint8Array | null, input: Uint8Array, ending: [number, number], told?: (error: Error | null, made: ArrayBuffer) => void): ArrayBuffer;
    crc32(bytes: Uint8Array, start: number): number;
}
export const lib = native("zlib") as Native;

export interface Options {
    chunkSize?: number;
    dictionary?: unknown;
    finishFlush?: number;
    flush?: number;
    info?: boolean;
    level?: number;
    maxOutputLength?: number;
    memLevel?: number;
    params?: Record<string, number>;
    strategy?: number;
    windowBits?: number;
}

const CODES = { Z_OK: 0, Z_STREAM_END: 1, Z_NEED_DICT: 2, Z_ERRNO: -1, Z_STREAM_ERROR: -2, Z_DATA_ERROR: -3, Z_MEM_ERROR: -4, Z_BUF_ERROR: -5, Z_VERSION_ERROR: -6 };
export const errorCodes = Object.freeze(Object.assign(Object.fromEntries(Object.entries(CODES).map(([name, number]) => [number, name])), CODES));

export const constants: Readonly<Record<string, number>> = Object.assign(Object.create(null) as Record<string, number>, {
        Z_NO_FLUSH: 0, Z_PARTIAL_FLUSH: 1, Z_SYNC_FLUSH: 2, Z_FULL_FLUSH: 3, Z_FINISH: 4, Z_BLOCK: 5, Z_OK: 0, Z_STREAM_END: 1, Z_NEED_DICT: 2, Z_ERRNO: -1, Z_STREAM_ERROR: -2, Z_DATA_ERROR: -3,
        Z_MEM_ERROR: -4, Z_BUF_ERROR: -5, Z_VERSION_ERROR: -6, Z_NO_COMPRESSION: 0, Z_BEST_SPEED: 1, Z_BEST_COMPRESSION: 9, Z_DEFAULT_COMPRESSION: -1, Z_FILTERED: 1, Z_HUFFMAN_ONLY: 2, Z_RLE: 3, Z_FIXED: 4,
        Z_DEFAULT_STRATEGY: 0, ZLIB_VERNUM: 4880, DEFLATE: 1, INFLATE: 2, GZIP: 3, GUNZIP: 4, DEFLATERAW: 5, INFLATERAW: 6, UNZIP: 7, BROTLI_DECODE: 8, BROTLI_ENCODE: 9, Z_MIN_WINDOWBITS: 8, Z_MAX_WINDOWBITS: 15,
        Z_DEFAULT_WINDOWBITS: 15, Z_MIN_CHUNK: 64, Z_MAX_CHUNK: Infinity, Z_DEFAULT_CHUNK: 16384, Z_MIN_MEMLEVEL: 1, Z_MAX_MEMLEVEL: 9, Z_DEFAULT_MEMLEVEL: 8, Z_MIN_LEVEL: -1, Z_MAX_LEVEL: 9, Z_DEFAULT_LEVEL: -1,
        BROTLI_OPERATION_PROCESS: 0, BROTLI_OPERATION_FLUSH: 1, BROTLI_OPERATION_FINISH: 2, BROTLI_OPERATION_EMIT_METADATA: 3, BROTLI_PARAM_MODE: 0, BROTLI_MODE_GENERIC: 0, BROTLI_MODE_TEXT: 1, BROTLI_MODE_FONT: 2,
        BROTLI_DEFAULT_MODE: 0, BROTLI_PARAM_QUALITY: 1, BROTLI_MIN_QUALITY: 0, BROTLI_MAX_QUALITY: 11, BROTLI_DEFAULT_QUALITY: 11, BROTLI_PARAM_LGWIN: 2, BROTLI_MIN_WINDOW_BITS: 10, BROTLI_MAX_WINDOW_BITS: 24,
        BROTLI_LARGE_MAX_WINDOW_BITS: 30, BROTLI_DEFAULT_WINDOW: 22, BROTLI_PARAM_LGBLOCK: 3, BROTLI_MIN_INPUT_BLOCK_BITS: 16, BROTLI_MAX_INPUT_BLOCK_BITS: 24, BROTLI_PARAM_DISABLE_LITERAL_CONTEXT_MODELING: 4,
        BROTLI_PARAM_SIZE_HINT: 5, BROTLI_PARAM_LARGE_WINDOW: 6, BROTLI_PARAM_NPOSTFIX: 7, BROTLI_PARAM_NDIRECT: 8, BROTLI_DECODER_RESULT_ERROR: 0, BROTLI_DECODER_RESULT_SUCCESS: 1,
        BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: 2, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: 3, BROTLI_DECODER_PARAM_DISABLE_RING_BUFFER_REALLOCATION: 0, BROTLI_DECODER_PARAM_LARGE_WINDOW: 1,
        BROTLI_DECODER_NO_ERROR: 0, BROTLI_DECODER_SUCCESS: 1, BROTLI_DECODER_NEEDS_MORE_INPUT: 2, BROTLI_DECODER_NEEDS_MORE_OUTPUT: 3,
        ZSTD_e_continue: 0, ZSTD_e_flush: 1, ZSTD_e_end: 2, ZSTD_COMPRESS: 10, ZSTD_DECOMPRESS: 11, ZSTD_c_compressionLevel: 100, ZSTD_c_checksumFlag: 201, ZSTD_CLEVEL_DEFAULT: 3,
    });

export const { DEFLATE, INFLATE, GZIP, GUNZIP, DEFLATERAW, INFLATERAW, UNZIP, BROTLI_DECODE, BROTLI_ENCODE, ZSTD_COMPRESS, ZSTD_DECOMPRESS } = constants as Record<string, number> & {
    [name in "DEFLATE" | "INFLATE" | "GZIP" | "GUNZIP" | "DEFLATERAW" | "INFLATERAW" | "UNZIP" | "BROTLI_DECODE" | "BROTLI_ENCODE" | "ZSTD_COMPRESS" | "ZSTD_DECOMPRESS"]: number;
};
export const OUTPUT_BYTES_MAX = 4294967296;
export const CHUNK_BYTES = 16384;
const FINISH = 4;

function number(options: Options | undefined, name: keyof Options, least: number, most: number, fallback: number): number {
    const value = options?.[name];
    if (value === undefined || (typeof value === "number" && Number.isNaN(value))) return fallback;
    if (typeof value !== "number") throw invalidType(`options.${name}`, "of type number", value);
    if (!Number.isFinite(value)) throw outOfRange(`options.${name}`, "a finite number", value);
    if (value < least || value > most) throw outOfRange(`options.${name}`, most === Infinity ? `>= ${least}` : `>= ${least} and <= ${most}`, value);
    return value;
}

export interface Plan {
    mode: number;
    settings: number[];
    dictionary: Uint8Array | undefined;
    chunkSize: number;
    flush: number;
    finishFlush: number;
    most: number;
    level: number;
    strategy: number;
}

const isBrotli = (mode: number): boolean => mode === BROTLI_DECODE || mode === BROTLI_ENCODE;
const isZstd = (mode: number): boolean => mode >= 10;

/** The codec's number for a flush: zlib's. Brotli's and zstd's have others. */
export function flushOf(mode: number, flush: number): number {
    if (mode < BROTLI_DECODE) return flush;
    return [0, 2, FINISH, 2][flush] ?? 0;
}

/** Node's checks of the options, and what the codec is opened with. */
export function planOf(mode: number, options: Options | undefined): Plan {
    const own = isBrotli(mode) || isZstd(mode);
    const chunkSize = number(options, "chunkSize", 64, Infinity, CHUNK_BYTES);
    const last = own ? (isBrotli(mode) ? 3 : 2) : 5;
    const flush = number(options, "flush", 0, last, 0);
    const finishFlush = number(options, "finishFlush", 0, last, own ? 2 : FINISH);
    const most = number(options, "maxOutputLength", 1, OUTPUT_BYTES_MAX, OUTPUT_BYTES_MAX);
    const plan: Plan = { mode, settings: [], dictionary: undefined, chunkSize, flush, finishFlush, most, level: -1, strategy: 0 };
    if (own) {
        plan.settings = own && isBrotli(mode) ? brotliSettings(options) : [options?.params?.["100"] ?? -1000, options?.params?.["201"] ?? 0];
        if (isZstd(mode)) plan.dictionary = dictionaryOf(options);
        return plan;
    }
    const { windowBits } = options ?? {};
    // 0 is the size that the data says it has.
    const mayBeZero = mode === INFLATE || mode === GUNZIP || mode === UNZIP;
    const bits = mayBeZero && (windowBits === undefined || windowBits === null || windowBits === 0) ? (windowBits === 0 ? 0 : 15) : number(options, "windowBits", mode === GZIP ? 9 : 8, 15, 15);
    plan.level = number(options, "level", -1, 9, -1);
    const memLevel = number(options, "memLevel", 1, 9, 8);
    plan.strategy = number(options, "strategy", 0, 4, 0);
    plan.settings = [bits, plan.level, memLevel, plan.strategy];
    plan.dictionary = dictionaryOf(options);
    return plan;
}

function dictionaryOf(options: Options | undefined): Uint8Array | undefined {
    const { dictionary } = options ?? {};
    if (dictionary === undefined) return undefined;
    const bytes = memoryOf(dictionary);
    if (bytes === undefined) throw invalidType("options.dictionary", "an instance of Buffer, TypedArray, DataView, or ArrayBuffer", dictionary);
    return bytes;
}

function brotliSettings(options: Options | undefined): number[] {
    const settings = new Array<number>(10).fill(-1);
    for (const [name, value] of Object.entries(options?.params ?? {})) {
        const at = Number(name);
        if (Number.isNaN(at) || at < 0 || at > 9) throw codedRangeError("ERR_BROTLI_INVALID_PARAM", `${name} is not a valid Brotli parameter`);
        if (typeof value !== "number" && typeof value !== "boolean") throw invalidType("options.params[key]", "of type number", value);
        settings[at] = Number(value);
    }
    return settings;
}

export function memoryOf(value: unknown): Uint8Array | undefined {
    if (value instanceof Uint8Array) return value;
    if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return value instanceof ArrayBuffer ? new Uint8Array(value) : undefined;
}

/** What is compressed at once. */
export function inputOf(value: unknown): Uint8Array {
    if (typeof value === "string") return Buffer.from(value);
    const bytes = memoryOf(value);
    if (bytes === undefined) throw invalidType("buffer", "of type string or an instance of Buffer, TypedArray, DataView, or ArrayBuffer", value);
    return bytes;
}

/** An error of a codec as Node has it. */
export function asThrown(error: unknown): Error {
    const { code, message } = error as { code?: string; message: string };
    if (code !== "ERR_BUFFER_TOO_LARGE") return error as Error;
    return new codes.ERR_BUFFER_TOO_LARGE(Number(/\d+/.exec(message)?.[0]));
}
