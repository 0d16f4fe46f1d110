const util = require("util");
console.log(util.format("%s %d %i %f %j %o %O %c %% %x", "a", 1, 2.5, "3.5", {}, [], {}, "css", "rest"), util.format(1, "a"), util.format("a", { b: 1 }), util.format());
for (const value of [1, "s", null, undefined, true, 1n, Symbol("x"), () => {}, class A {}, [], {}, new Map([[1, { a: [] }]]), new Error("e").message, new Date(1e12), new Set([[1]])]) {
    console.log(util.inspect(value), util.inspect(value, { compact: false, depth: 0 }), util.inspect(value, { colors: true }));
}
class Custom {
    [util.inspect.custom](depth, options, inspect) {
        return `custom ${depth} ${typeof options.stylize} ${inspect === util.inspect}`;
    }
}
console.log(util.inspect(new Custom()), [new Custom()], `${util.inspect({ a: { b: { c: { d: 1 } } } }, { depth: Infinity, breakLength: 20 })}`);
console.log(util.inspect({ b: 1, a: 2 }, { sorted: true }), util.inspect("a'b"), util.inspect(["x".repeat(100)], { maxStringLength: 5 }), util.inspect([1, 2, 3], { maxArrayLength: 1 }));
console.log(util.inspect(Object.assign(() => {}, { a: 1 })), util.inspect(Object.assign([1], { x: 1 })), util.inspect({ [Symbol("s")]: 1, "a-b": 2 }), util.inspect(new (class extends Array {})(3)));
console.log(util.inspect(new Proxy({ a: 1 }, {}), { showProxy: true }), util.inspect({ get a() { return { b: 1 }; } }, { getters: true }), util.inspect([, 1, , 2]));
console.log(util.isDeepStrictEqual({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }), util.isDeepStrictEqual([1], ["1"]), util.isDeepStrictEqual(NaN, NaN), util.isDeepStrictEqual(0, -0), util.isDeepStrictEqual(new Set([{ a: 1 }]), new Set([{ a: 1 }])), util.isDeepStrictEqual(new Map([[{}, 1]]), new Map([[{}, 1]])), util.isDeepStrictEqual(new Date(1), new Date(2)));
const { types } = util;
const samples = { date: new Date(), map: new Map(), set: new Set(), weakMap: new WeakMap(), promise: Promise.resolve(), regexp: /a/, error: new TypeError(), proxy: new Proxy({}, {}), boxed: Object("x"), typed: new Uint8Array(), view: new DataView(new ArrayBuffer(1)), buffer: new ArrayBuffer(1), async: async () => {}, generator: function* () {}, iterator: new Map().keys(), plain: {}, nothing: null, args: (function () { return arguments; })(), fakeDate: Object.create(Date.prototype) };
for (const [name, value] of Object.entries(samples)) {
    console.log(name, Object.keys(types).filter((check) => !["isEventTarget", "isExternal", "isFloat16Array"].includes(check) && types[check](value)).sort().join());
}
const wait = util.promisify((a, b, done) => setTimeout(done, 1, null, a + b));
const fail = util.promisify((done) => done(new Error("failed")));
function old(done) {}
old[util.promisify.custom] = async () => "custom";
(async () => {
    console.log(await wait(1, 2), await fail().catch((error) => error.message), await util.promisify(old)(), await util.promisify(setTimeout)(1, "later"), await util.promisify(setImmediate)("soon"));
    util.callbackify(async (x) => x + 1)(1, (error, value) => console.log(error, value));
    util.callbackify(async () => { throw null; })((error) => console.log(error.message, error.code, error.reason));
    util.callbackify(() => Promise.reject(new Error("no")))((error) => console.log(error.message));
})();
function Parent() {}
Parent.prototype.hi = () => "hi";
function Child() {}
util.inherits(Child, Parent);
console.log(new Child().hi(), Child.super_ === Parent, util.stripVTControlCharacters("\u001b[31mred\u001b[0m"), JSON.stringify(util.styleText("red", "x")), util.toUSVString("a\ud800"));
console.log(util.parseArgs({ args: ["-f", "--bar", "b", "p"], options: { f: { type: "boolean", short: "f" }, bar: { type: "string" } }, allowPositionals: true }));
process.on("warning", (warning) => console.log(warning.name, warning.code, warning.message));
const deprecated = util.deprecate((x) => x, "do not", "DEP_X");
console.log(deprecated(1), deprecated(2), util.getSystemErrorName(-2), util.getSystemErrorMap().get(-13)[0], util.debuglog("x").enabled);
for (const [name, ...args] of [["promisify", 1], ["callbackify"], ["inherits", null, null], ["inherits", Child, null], ["stripVTControlCharacters", 5], ["getSystemErrorName", 5], ["deprecate", () => {}, "m", 5]]) {
    try {
        util[name](...args);
        console.log(name, "nothing");
    } catch (error) {
        console.log(name, error.name, error.code, error.message);
    }
}
console.log(util.types.isPromise === require("util/types").isPromise);
