// node:zlib at once, with callbacks, and as streams.
const zlib = require("zlib");
const { Readable, pipeline } = require("stream");
const { promisify } = require("util");

const text = "hello hello hello, compress me ".repeat(50);
const random = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7919 + (at >> 3) * 31) & 255));

function show(name, work) {
    try {
        const value = work();
        console.log(name, Buffer.isBuffer(value) ? value.toString("latin1").slice(0, 60) : value);
    } catch (error) {
        console.log(name, "throws", error.name, error.code, error.errno, error.message);
    }
}
const pairs = [["gzip", "gunzip"], ["deflate", "inflate"], ["deflateRaw", "inflateRaw"], ["brotliCompress", "brotliDecompress"], ["gzip", "unzip"], ["deflate", "unzip"]];
for (const [one, other] of pairs) {
    for (const input of [text, Buffer.alloc(0), random, new Uint16Array([1, 2, 3]), Buffer.alloc(100_000, "a")]) {
        show(`${one} ${other}`, () => {
            const packed = zlib[`${one}Sync`](input);
            const back = zlib[`${other}Sync`](packed);
            return [packed.length < 300 || packed.length > 4000, back.length, back.equals(Buffer.from(typeof input === "string" ? input : new Uint8Array(input.buffer, input.byteOffset, input.byteLength)))];
        });
    }
}
show("levels", () => [0, 1, 9].map((level) => zlib.inflateSync(zlib.deflateSync(text, { level })).toString() === text));
show("strategy", () => zlib.inflateSync(zlib.deflateSync(text, { strategy: zlib.constants.Z_HUFFMAN_ONLY, memLevel: 9, windowBits: 10 })).toString() === text);
show("gzip head", () => zlib.gzipSync("x").subarray(0, 4).toString("hex"));
show("members", () => zlib.gunzipSync(Buffer.concat([zlib.gzipSync("one "), zlib.gzipSync("two")])).toString());
show("padding", () => zlib.gunzipSync(Buffer.concat([zlib.gzipSync("one"), Buffer.alloc(10)])).toString());
show("dictionary", () => zlib.inflateSync(zlib.deflateSync("hello world", { dictionary: Buffer.from("hello") }), { dictionary: Buffer.from("hello") }).toString());
show("no dictionary", () => zlib.inflateSync(zlib.deflateSync("hello world", { dictionary: Buffer.from("hello") })));
show("bad dictionary", () => zlib.inflateSync(zlib.deflateSync("hello world", { dictionary: Buffer.from("hello") }), { dictionary: Buffer.from("other") }));
show("raw dictionary", () => zlib.inflateRawSync(zlib.deflateRawSync("hello world", { dictionary: Buffer.from("hello") }), { dictionary: Buffer.from("hello") }).toString());
for (const name of ["gunzip", "inflate", "inflateRaw", "unzip"]) {
    show(`${name} junk`, () => zlib[`${name}Sync`](Buffer.from("this is no compressed data")));
    show(`${name} empty`, () => zlib[`${name}Sync`](Buffer.alloc(0)));
}
show("cut", () => zlib.gunzipSync(zlib.gzipSync(text).subarray(0, 40)));
show("cut, taken as it is", () => zlib.gunzipSync(zlib.gzipSync("hello").subarray(0, 20), { finishFlush: zlib.constants.Z_SYNC_FLUSH }).toString());
show("broken check", () => { const packed = zlib.gzipSync("hello"); packed[packed.length - 8] ^= 1; return zlib.gunzipSync(packed); });
show("too large", () => zlib.gunzipSync(zlib.gzipSync(Buffer.alloc(100_000)), { maxOutputLength: 1000 }));
show("bad level", () => zlib.gzipSync("x", { level: 20 }));
show("bad type", () => zlib.gzipSync("x", { level: "a" }));
show("bad chunk", () => zlib.createGzip({ chunkSize: 1 }));
show("bad window", () => zlib.createGzip({ windowBits: 16 }));
show("bad input", () => zlib.gzipSync(5));
show("no callback", () => zlib.gzip("x"));
show("brotli quality", () => zlib.brotliDecompressSync(zlib.brotliCompressSync(text, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 3 } })).toString() === text);
show("brotli parameter", () => zlib.brotliCompressSync(text, { params: { 99: 3 } }));
show("crc32", () => zlib.crc32 && [zlib.crc32("hello"), zlib.crc32(Buffer.from("lo"), zlib.crc32("hel"))]);
show("constants", () => [zlib.constants.Z_SYNC_FLUSH, zlib.Z_BEST_COMPRESSION, zlib.codes.Z_DATA_ERROR, zlib.codes["-3"], Object.isFrozen(zlib.constants)]);
show("instanceof", () => [zlib.createGzip() instanceof zlib.Gzip, zlib.Gzip() instanceof zlib.Gzip, new zlib.Inflate() instanceof require("stream").Transform]);

const collect = (stream) =>
    new Promise((resolve) => {
        const parts = [];
        stream.on("data", (part) => parts.push(part));
        stream.on("end", () => resolve(Buffer.concat(parts)));
        stream.on("error", (error) => resolve(error));
    });
async function main() {
    for (const [one, other] of pairs) {
        const packed = await promisify(zlib[one])(text);
        console.log(one, (await promisify(zlib[other])(packed)).toString() === text);
    }
    await new Promise((resolve) => zlib.gunzip(Buffer.from("junk data"), (error, made) => resolve(console.log(error.code, error.errno, error.message, made))));
    await new Promise((resolve) => zlib.gunzip(zlib.gzipSync(Buffer.alloc(9999)), { maxOutputLength: 100 }, (error) => resolve(console.log(error.name, error.code, error.message))));
    for (const [Pack, Unpack] of [["Gzip", "Gunzip"], ["Deflate", "Inflate"], ["DeflateRaw", "InflateRaw"], ["BrotliCompress", "BrotliDecompress"], ["Gzip", "Unzip"]]) {
        const pack = zlib[`create${Pack}`]({ chunkSize: 64 });
        const unpack = zlib[`create${Unpack}`]({ chunkSize: 100 });
        Readable.from([Buffer.from(text), random, Buffer.from(text)]).pipe(pack).pipe(unpack);
        const back = await collect(unpack);
        console.log(Pack, back.equals(Buffer.concat([Buffer.from(text), random, Buffer.from(text)])), pack.bytesWritten, typeof unpack.bytesWritten);
    }
    const flushed = zlib.createGzip();
    flushed.write("hello");
    await new Promise((resolve) => flushed.flush(zlib.constants.Z_SYNC_FLUSH, resolve));
    const first = flushed.read();
    console.log("flushed", zlib.gunzipSync(first, { finishFlush: zlib.constants.Z_SYNC_FLUSH }).toString());
    flushed.write(" again");
    await new Promise((resolve) => flushed.flush(resolve));
    flushed.end();
    console.log("rest", zlib.gunzipSync(Buffer.concat([first, await collect(flushed)])).toString());
    const changed = zlib.createDeflate({ level: 9 });
    changed.write(text);
    await new Promise((resolve) => changed.params(0, zlib.constants.Z_DEFAULT_STRATEGY, resolve));
    changed.end(text);
    console.log("params", zlib.inflateSync(await collect(changed)).toString() === text + text);
    const cut = zlib.createGunzip();
    cut.end(zlib.gzipSync(text).subarray(0, 50));
    console.log("cut", (await collect(cut)).message);
    const junk = zlib.createInflate();
    junk.write("junk");
    const error = await collect(junk);
    console.log("junk", error.code, error.errno, error.message);
    await new Promise((resolve) => pipeline(Readable.from([Buffer.from("junk")]), zlib.createGunzip(), (failed) => resolve(console.log("pipeline", failed.code))));
    const bytewise = zlib.createUnzip();
    const all = collect(bytewise);
    for (const byte of zlib.gzipSync("byte by byte")) bytewise.write(Buffer.from([byte]));
    bytewise.end();
    console.log((await all).toString());
    const closed = zlib.createGzip();
    await new Promise((resolve) => closed.close(resolve));
    console.log("closed", closed.destroyed);
    // A bomb is unfolded as it is read, and no more.
    const bomb = zlib.createGunzip();
    bomb.end(zlib.gzipSync(Buffer.alloc(20_000_000)));
    await new Promise((resolve) => bomb.once("readable", resolve));
    await new Promise((resolve) => setImmediate(resolve));
    console.log("bomb", bomb.readableLength <= 65536);
    bomb.destroy();
}
main();
show("endless chunk", () => zlib.createGzip({ chunkSize: Infinity }));
