// How errors of Node's own modules look: class, name, code, text and first line of the stack.
const EventEmitter = require("node:events");
const stream = require("node:stream");
const cases = [
    () => Buffer.alloc("x"),
    () => Buffer.from(5),
    () => Buffer.from("a", "nope"),
    () => Buffer.alloc(4).readUInt8(9),
    () => Buffer.alloc(4).swap16().swap64(),
    () => new EventEmitter().on("a", 5),
    () => new EventEmitter().setMaxListeners(-2),
    () => new EventEmitter().emit("error", "text"),
    () => new stream.Readable({ highWaterMark: -5 }),
    () => stream.Readable.from(7),
    () => stream.pipeline(new stream.PassThrough()),
    () => new stream.Writable({ write() {} }).write(null),
];
for (const value of ["short", "a longer text than can be shown here", "it's", -0, NaN, 1n, Symbol("s"), () => 1, function named() {}, class Named {}, null, undefined, {}, [], new Map(), Object.create(null), new (class Own {})(), true, new Date(0)]) cases.push(() => new EventEmitter().on("a", typeof value === "function" ? { value } : value), () => Buffer.from("").equals(value));
for (const [at, run] of cases.entries()) {
    try {
        run();
        console.log(at, "nothing thrown");
    } catch (error) {
        console.log(at, error.name, error.code, error.message);
        console.log("  ", String(error), Object.keys(error), error.constructor === globalThis[error.name], error instanceof Error, error.stack.split("\n")[0]);
        console.log("  ", Object.prototype.toString.call(error), JSON.stringify(error));
    }
}
