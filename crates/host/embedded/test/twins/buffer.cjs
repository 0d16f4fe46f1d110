// Buffers: every method, its bounds and its errors.
const { Buffer, kMaxLength } = require("node:buffer");
const buffer = require("node:buffer");
let printed = 0;
const say = (label, value) => {
    printed++;
    console.log(label, typeof value === "string" ? JSON.stringify(value) : typeof value === "bigint" ? `${value}n` : Buffer.isBuffer(value) ? `<${value.toString("hex")}>` : String(value));
};
const attempt = (label, run) => {
    try {
        say(label, run());
    } catch (error) {
        console.log(label, "throws", error.name, error.code, error.message);
    }
};

const texts = ["", "a", "hello world", "\u00e9\u00e8", "\u20ac\u4f60\u597d", "\ud83d\ude00 smile", "\ud83d", "x\ude00y", "\ud83dz\ud83d\ude00", "\0null\0", "\u007f\u0080\u07ff\u0800\uffff", "SGVsbG8=", "deadBEEF0", "a-b_c+/==", "ab cd\nef==gh"];
const encodings = ["utf8", "UTF-8", "utf16le", "ucs2", "UCS-2", "latin1", "binary", "ascii", "base64", "base64url", "hex"];
for (const encoding of encodings) {
    for (const text of texts) {
        const bytes = Buffer.from(text, encoding);
        say(`${encoding} ${JSON.stringify(text)}`, bytes);
        say(` back`, bytes.toString(encoding));
        say(` byteLength`, Buffer.byteLength(text, encoding));
        for (const room of [0, 1, 2, 3, 5, 7]) {
            const target = Buffer.alloc(9, 0x2e);
            const written = target.write(text, 1, room, encoding);
            say(` write ${room}`, `${written} ${target.toString("latin1")}`);
        }
    }
    const all = Buffer.from(Array.from({ length: 256 }, (_, at) => at));
    say(`${encoding} of all`, all.toString(encoding));
    say(`${encoding} part`, all.toString(encoding, 60, 71));
}
const wrong = ["80", "c3", "c328", "e28281", "e282", "e228a1", "f0288cbc", "f09f98", "f09f9880", "eda080", "edb080", "fe", "ff", "c0af", "e080af", "f08080af", "f4908080", "efbbbf61", "61e2826162", "61f09f9861"];
for (const hex of wrong) {
    say(`utf8 of ${hex}`, Buffer.from(hex, "hex").toString());
    say(` isUtf8`, buffer.isUtf8(Buffer.from(hex, "hex")));
    say(` isAscii`, buffer.isAscii(Buffer.from(hex, "hex")));
}
for (const text of ["YQ", "YQ=", "YQ==", "YWI", "YWI=", "YWJj", "Y W\nJj", "Y$Q%=", "=", "====", "YQ==YQ==", "YQ=YQ", "A", "AB", "ABC", "-_-_", "+/+/", "a\u00e9b\u00e9c\u00e9d", "\u20acYWJj", "YW\u0142Jj"]) say(`base64 ${JSON.stringify(text)}`, Buffer.from(text, "base64"));
for (const text of ["0", "00", "000", "0g", "00g0", "zz", "ABCDEF", "a\u00e9", "ab\u0141c"]) say(`hex ${text}`, Buffer.from(text, "hex"));

const b = (hex) => Buffer.from(hex, "hex");
const from = [5, null, undefined, {}, true, Symbol("a"), 5n, () => 1, [1, 2, 300, -1, 1.9, "7", "x", null], new Uint8Array([1, 2]), new Uint16Array([1, 256, 515]), { length: 2, 0: 9, 1: 8 }, { length: -1 }, { length: "2" }, new String("abc"), { type: "Buffer", data: [1, 2, 3] }, { valueOf: () => "primitive" }, { [Symbol.toPrimitive]: () => "via toPrimitive" }, new ArrayBuffer(3), Buffer.from("copy")];
for (const [at, value] of from.entries()) attempt(`from ${at}`, () => Buffer.from(value));
attempt("from encoding", () => Buffer.from("a", "nope"));
attempt("from empty encoding", () => Buffer.from("abc", ""));
const shared = new Uint8Array([1, 2, 3, 4, 5, 6]).buffer;
for (const [offset, length] of [[], [2], [2, 2], [0, 0], [6], [7], ["2"], [1, 9], [1, -4], [1, "3"], [NaN, 2], [1, null]]) attempt(`from buffer ${offset} ${length}`, () => Buffer.from(shared, offset, length));
const view = Buffer.from(shared);
new Uint8Array(shared)[0] = 200;
say("shares", view);

for (const args of [[3], [0], ["x"], [NaN], [-1], [3, 1], [3, "a"], [5, "abc"], [5, "616263", "hex"], [3, "zz", "hex"], [4, b("0102")], [3, ""], [3, 257], [3, "a", 5], [3, "a", "nope"], [3, true], [3, null], [3, 1.5]]) attempt(`alloc ${args.map(String)}`, () => Buffer.alloc(...args));
attempt("allocUnsafe", () => Buffer.allocUnsafe(7).length);
attempt("allocUnsafe wrong", () => Buffer.allocUnsafe("7"));
attempt("allocUnsafeSlow", () => Buffer.allocUnsafeSlow(7).length);
attempt("Buffer()", () => Buffer("text"));
attempt("new Buffer", () => new Buffer(3).length);
attempt("new Buffer wrong", () => new Buffer(3, "utf8"));

for (const args of [[[]], [[], 4], [[b("0102"), b("03")], 1], [[b("01")], 1.5], [[b("01"), b("0203")]], [[b("01"), b("0203")], 2], [[b("01"), b("0203")], 6], [[b("01")], -1], [[b("01")], "2"], [[new Uint8Array([7])]], ["x"], [[5]], [[b("01"), "ab"]], [undefined]]) attempt(`concat`, () => Buffer.concat(...args));
for (const value of ["abc", "\u20ac", b("0102"), new ArrayBuffer(5), new DataView(new ArrayBuffer(6)), new Uint32Array(2), 5, null, undefined, {}]) attempt("byteLength", () => Buffer.byteLength(value));
attempt("byteLength encoding", () => Buffer.byteLength("abc", "nope"));
for (const [one, other] of [["01", "01"], ["01", "02"], ["02", "01"], ["01", "0100"], ["", ""], ["ff", "01ff"]]) {
    say(`compare ${one} ${other}`, Buffer.compare(b(one), b(other)));
    say(" method", b(one).compare(b(other)));
    say(" equals", b(one).equals(b(other)));
}
attempt("compare wrong", () => Buffer.compare("a", b("")));
attempt("compare wrong 2", () => Buffer.compare(b(""), 5));
attempt("equals wrong", () => b("").equals("a"));
attempt("compare method wrong", () => b("").compare(5));
const abc = Buffer.from("abcdefghij");
for (const args of [[0], [2, 4], [2, 4, 2, 4], [0, 3, 2, 5], [3, 2], [0, 10, 4, 4], [20, 30], [0, 11], [-1], ["1"], [0, 5, 0, 99], [1.5]]) attempt(`compare parts ${args}`, () => abc.compare(Buffer.from("abcdefghij"), ...args));
for (const encoding of ["utf8", "UTF8", "Utf-8", "hex", "nope", "", 5, null, undefined, "utf-16le", "UTF16LE", "binary", "utf16"]) say(`isEncoding ${encoding}`, Buffer.isEncoding(encoding));
for (const args of [[], [2], [-3], [2, 5], [2, -2], [5, 2], [99], [0, 99], ["2", "4"], [NaN], [null, 3], [1.9, 3.9], [-99, 3], [undefined, 4]]) {
    attempt(`slice ${args}`, () => abc.slice(...args));
    attempt(`subarray ${args}`, () => abc.subarray(...args));
    attempt(`toString ${args}`, () => abc.toString("utf8", ...args));
}
attempt("slice shares", () => { const s = Buffer.from("abc"); s.slice(1)[0] = 0x58; return s.toString(); });
attempt("toString nope", () => abc.toString("nope"));
attempt("toString null", () => abc.toString(null));
attempt("toString number", () => abc.toString(5));

for (const args of [["x"], ["xy", 8], ["xyz", 9], ["xyz", 2, 2], ["xyz", 2, 99], ["xyz", 11], ["xyz", -1], ["xyz", "hex"], ["616263", "hex"], ["616263", 2, "hex"], ["616263", 2, 2, "hex"], [5], ["x", 0, 1, "nope"], ["x", 1.5], ["x", null], ["x", undefined, undefined, "hex"], ["\u20ac", 8], ["\u20ac", 7], ["\ud83d\ude00", 7]]) attempt(`write ${args}`, () => { const t = Buffer.alloc(10, 0x2e); return `${t.write(...args)} ${t.toString("latin1")}`; });
for (const args of [[], [2], [2, 3], [2, 3, 5], [0, 0, 99], [99], [-1], [0, -1], [0, 11], [0, 0, -1], ["2"], [0, 5, 3], [NaN, 1], [1.7, 1.2, 5.9], [undefined, 4], [0, "x"], [null, null, null]]) attempt(`copy ${args}`, () => { const t = Buffer.alloc(6, 0x2e); return `${abc.copy(t, ...args)} ${t}`; });
attempt("copy wrong", () => abc.copy("x"));
attempt("copy overlap", () => { const t = Buffer.from("abcdefgh"); t.copy(t, 2, 0, 6); return t; });
for (const args of [["x"], ["xy"], ["xyz", 2], ["xy", 2, 5], [0x141], [-1], [1.9], [""], ["61", "hex"], ["6162", 1, "hex"], ["6162", 1, 4, "hex"], ["zz", "hex"], [b("0102")], [b("")], ["a", -1], ["a", 0, 11], ["a", 11], ["a", 5, 2], ["a", "nope"], ["a", 0, 5, 5], ["\u20ac"], ["\u00e9", "latin1"], [true], [null], [undefined], [new Uint16Array([258])], ["a", "1"], ["a", 1.5], [5, "x"]]) attempt(`fill ${args}`, () => Buffer.alloc(10, 0x2e).fill(...args));

const hay = Buffer.from("this is a buffer, is it? \u20ac");
for (const args of [["is"], ["is", 3], ["is", -8], ["is", 6], ["is", 99], ["is", -99], [""], ["", 4], ["", 99], ["nothing"], [b("6973")], [new Uint8Array([0x69, 0x73])], [0x69], [0x69, 5], [0x169], [99.9], [-1], ["\u20ac"], ["6973", 0, "hex"], ["is", "utf8"], ["aXM=", "base64"], [{}], [null], [undefined], [true], ["is", 0, "nope"], ["is", null], ["is", {}], ["is", undefined], ["is", NaN], ["is", "3"], ["buffer", -17]]) {
    attempt(`indexOf ${args.map(String)}`, () => hay.indexOf(...args));
    attempt(`lastIndexOf ${args.map(String)}`, () => hay.lastIndexOf(...args));
    attempt(`includes ${args.map(String)}`, () => hay.includes(...args));
}
const wide = Buffer.from("abcabc\u0161b", "utf16le");
for (const args of [["b", 0, "utf16le"], ["b", 3, "utf16le"], ["c\u0161", 0, "utf16le"], ["b", -1, "ucs2"], ["a\0", 0], ["z", 0, "utf16le"], ["\u6100", 0, "utf16le"]]) {
    say(`wide indexOf ${args}`, wide.indexOf(...args));
    say(`wide lastIndexOf ${args}`, wide.lastIndexOf(...args));
}
for (const width of [16, 32, 64]) for (const length of [0, 2, 4, 8, 16, 3]) attempt(`swap${width} ${length}`, () => Buffer.from(Array.from({ length }, (_, at) => at))[`swap${width}`]());
say("toJSON", JSON.stringify(Buffer.from("abc")));
say("toJSON in", JSON.stringify({ a: Buffer.from([1, 2]), b: [Buffer.alloc(0)] }));
say("of", Buffer.of(1, 2, 300, "4"));
attempt("copyBytesFrom", () => Buffer.copyBytesFrom(new Uint16Array([1, 2, 3]), 1, 1));
attempt("copyBytesFrom all", () => Buffer.copyBytesFrom(new Uint16Array([1, 2, 3])));
attempt("copyBytesFrom wrong", () => Buffer.copyBytesFrom("x"));
attempt("copyBytesFrom offset", () => Buffer.copyBytesFrom(new Uint8Array(2), -1));

for (const [from_, to] of [["utf8", "latin1"], ["latin1", "utf8"], ["utf8", "utf16le"], ["utf16le", "utf8"], ["utf8", "ascii"], ["utf8", "hex"]]) attempt(`transcode ${from_} ${to}`, () => buffer.transcode(Buffer.from("a\u00e9\u20ac"), from_, to));
attempt("transcode wrong", () => buffer.transcode("x", "utf8", "latin1"));
for (const text of ["", "abc", "\u00ff", "\u0100", undefined, null, 5]) attempt(`btoa ${text}`, () => buffer.btoa(text));
for (const text of ["", "YWJj", "YW Jj", "YQ==", "YQ", "Y", "Y$", "YQ=", "=", "ab==c", undefined, null, 12]) attempt(`atob ${text}`, () => Buffer.from(buffer.atob(text), "latin1"));
attempt("atob none", () => buffer.atob());

say("instance", Buffer.from("a") instanceof Uint8Array);
say("isBuffer", [Buffer.isBuffer(Buffer.from("")), Buffer.isBuffer(new Uint8Array(1)), Buffer.isBuffer(null), Buffer.isBuffer({})].join());
say("constructor", Buffer.from("a").constructor === Buffer);
say("name", `${Buffer.name} ${Buffer.length} ${Buffer.poolSize} ${buffer.INSPECT_MAX_BYTES}`);
say("map", Buffer.from("abc").map((byte) => byte + 1));
say("filter", Buffer.from("abc").filter((byte) => byte !== 98));
say("isBuffer of map", Buffer.isBuffer(Buffer.from("abc").map((byte) => byte + 1)));
say("iterate", [...Buffer.from("abc")].join());
say("entries", JSON.stringify([...Buffer.from("ab").entries()]));
say("keys", Object.keys(Buffer.from("ab")).join());
say("concat string", `${Buffer.from("a")}${Buffer.from("b")}`);
say("slices", Buffer.from("\u20ac").hexSlice() + Buffer.from("abc").utf8Slice(1, 2) + Buffer.from("abc").latin1Slice(0, 1) + Buffer.from("abc").base64Slice());
say("parent", Buffer.from("ab").parent instanceof ArrayBuffer);
say("max", kMaxLength > 2 ** 30);
say("big", Buffer.from("\u20ac".repeat(100_000)).toString() === "\u20ac".repeat(100_000));
say("big invalid", Buffer.alloc(50_000, 0x80).toString().length);
say("printed", printed);
