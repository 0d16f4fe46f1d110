// Numbers in buffers: every width, both orders, bounds and errors.
const attempt = (label, run) => {
    try {
        const value = run();
        console.log(label, typeof value === "bigint" ? `${value}n` : Object.is(value, -0) ? "-0" : String(value));
    } catch (error) {
        console.log(label, "throws", error.name, error.code, error.message);
    }
};
const bytes = Buffer.from("0180ff7f00fe81c30a55aa", "hex");
const fixed = ["UInt8", "Int8", "UInt16LE", "UInt16BE", "Int16LE", "Int16BE", "UInt32LE", "UInt32BE", "Int32LE", "Int32BE", "FloatLE", "FloatBE", "DoubleLE", "DoubleBE", "BigInt64LE", "BigInt64BE", "BigUInt64LE", "BigUInt64BE"];
const offsets = [undefined, 0, 1, 2, 3, 7, 8, 10, 11, -1, 1.5, "1", null, NaN, Infinity, 2 ** 40, {}];
const values = [0, 1, -1, 127, 128, 255, 256, -128, -129, 32767, 32768, 65535, 65536, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, -(2 ** 31), -(2 ** 31) - 1, 1.5, -0.5, NaN, Infinity, "12", null, undefined, true, 3.4e39, 1e-40];
const bigs = [0n, 1n, -1n, 2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n), -(2n ** 63n) - 1n, 2n ** 64n - 1n, 2n ** 64n, 5, "5", undefined];
for (const name of fixed) {
    for (const offset of offsets) attempt(`read${name} ${String(offset)}`, () => bytes[`read${name}`](offset));
    for (const value of name.startsWith("Big") ? bigs : values) {
        attempt(`write${name} ${String(value)}`, () => {
            const target = Buffer.alloc(9, 0x2e);
            const end = target[`write${name}`](value, 1);
            return `${end} ${target.toString("hex")}`;
        });
    }
    for (const offset of offsets) attempt(`write${name} at ${String(offset)}`, () => `${Buffer.alloc(9)[`write${name}`](name.startsWith("Big") ? 1n : 1, offset)}`);
    if (name.includes("UInt")) console.log(Buffer.prototype[`read${name}`] === Buffer.prototype[`read${name.replace("UInt", "Uint")}`], Buffer.prototype[`read${name}`].name !== "");
}
for (const name of ["UIntLE", "UIntBE", "IntLE", "IntBE"]) {
    for (const width of [0, 1, 2, 3, 4, 5, 6, 7, undefined, "2", 1.5, null]) {
        for (const offset of [0, 1, 5, 10, 11, -1, undefined, "1", 1.5]) attempt(`read${name} ${offset} ${width}`, () => bytes[`read${name}`](offset, width));
        for (const value of [0, 1, -1, 200, 40000, 2 ** 24 - 1, 2 ** 24, 2 ** 31, 2 ** 39, 2 ** 40, 2 ** 47, 2 ** 48, -(2 ** 47), "7", NaN]) {
            attempt(`write${name} ${value} ${width}`, () => {
                const target = Buffer.alloc(8, 0x2e);
                return `${target[`write${name}`](value, 1, width)} ${target.toString("hex")}`;
            });
        }
    }
}
attempt("short", () => Buffer.alloc(1).readInt32LE());
attempt("short write", () => Buffer.alloc(1).writeInt32LE(1));
attempt("empty", () => Buffer.alloc(0).readUInt8());
