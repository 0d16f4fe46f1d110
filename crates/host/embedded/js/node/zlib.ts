// node:zlib. Its streams are a module of their own, loaded when the first is made.
import { validateFunction } from "../leat/validate";
import { asThrown, constants, errorCodes, flushOf, inputOf, lib, planOf, type Options } from "../leat/zlib";
import { invalidType } from "../leat/coded";

type Streams = typeof import("../leat/zlib_streams");
type Callback = (error: Error | null, made?: Buffer) => void;

const zlib: Record<string, unknown> = {};
const streams = (): Streams => require("../leat/zlib_streams") as Streams;

const CLASSES = [
    ["deflate", "Deflate", constants["DEFLATE"]],
    ["inflate", "Inflate", constants["INFLATE"]],
    ["gzip", "Gzip", constants["GZIP"]],
    ["gunzip", "Gunzip", constants["GUNZIP"]],
    ["deflateRaw", "DeflateRaw", constants["DEFLATERAW"]],
    ["inflateRaw", "InflateRaw", constants["INFLATERAW"]],
    ["unzip", "Unzip", constants["UNZIP"]],
    ["brotliCompress", "BrotliCompress", constants["BROTLI_ENCODE"]],
    ["brotliDecompress", "BrotliDecompress", constants["BROTLI_DECODE"]],
    ["zstdCompress", "ZstdCompress", constants["ZSTD_COMPRESS"]],
    ["zstdDecompress", "ZstdDecompress", constants["ZSTD_DECOMPRESS"]],
] as const;

for (const [name, className, number] of CLASSES) {
    const mode = number as number;
    zlib[`${name}Sync`] = (input: unknown, options?: Options): unknown => {
        const bytes = inputOf(input);
        const plan = planOf(mode, options);
        let made: ArrayBuffer;
        try {
            made = lib.once(mode, plan.settings, plan.dictionary ?? null, bytes, [flushOf(mode, plan.finishFlush), plan.most]);
        } catch (error) {
            throw asThrown(error);
        }
        const buffer = Buffer.from(made);
        return options?.info === true ? { buffer, engine: new (streams()[className])(options as object) } : buffer;
    };
    zlib[name] = (input: unknown, options: Options | Callback | undefined, callback?: Callback): void => {
        if (typeof options === "function") [callback, options] = [options, undefined];
        validateFunction(callback, "callback");
        const told = callback as Callback;
        const bytes = inputOf(input);
        const plan = planOf(mode, options);
        lib.once(mode, plan.settings, plan.dictionary ?? null, bytes, [flushOf(mode, plan.finishFlush), plan.most], (error, made) => (error ? told(asThrown(error)) : told(null, Buffer.from(made))));
    };
    zlib[`create${className}`] = (options?: object) => new (streams()[className])(options);
    const put = (value: unknown): void => {
        Object.defineProperty(zlib, className, { configurable: true, enumerable: true, writable: true, value });
    };
    Object.defineProperty(zlib, className, {
        configurable: true,
        enumerable: true,
        get() {
            const Class = streams()[className] as unknown as new (options?: object) => object;
            // Programs call these without `new` too.
            const callable = function (this: unknown, options?: object): object {
                return Reflect.construct(Class, [options], new.target ?? Class) as object;
            };
            Object.defineProperty(callable, "name", { value: className });
            callable.prototype = Class.prototype as object;
            put(callable);
            return callable;
        },
        set: put,
    });
}

zlib["crc32"] = (data: unknown, value: unknown = 0): number => {
    if (typeof data !== "string" && !ArrayBuffer.isView(data)) throw invalidType("data", "of type string or an instance of Buffer, TypedArray, or DataView", data);
    return lib.crc32(inputOf(data), Number(value) >>> 0);
};

Object.defineProperty(zlib, "constants", { enumerable: true, value: constants });
Object.defineProperty(zlib, "codes", { enumerable: true, value: errorCodes });
// Older programs read them here.
for (const [name, value] of Object.entries(constants)) {
    if (!name.startsWith("BROTLI") && !name.startsWith("ZSTD")) Object.defineProperty(zlib, name, { enumerable: false, value });
}

module.exports = zlib;
