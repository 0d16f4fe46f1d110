// Emitters: order, edge cases and errors.
const EventEmitter = require("node:events");
const { once, on, getEventListeners, errorMonitor, captureRejectionSymbol, setMaxListeners, addAbortListener } = EventEmitter;
const util = require("node:util");
const say = (...values) => console.log(...values);
const attempt = (label, run) => {
    try {
        say(label, run());
    } catch (error) {
        say(label, "throws", error.name, error.code, error.message, error.context ?? "");
    }
};
say(EventEmitter === EventEmitter.EventEmitter, typeof EventEmitter.once, EventEmitter.defaultMaxListeners, EventEmitter.usingDomains, EventEmitter.name, EventEmitter.length);
say(Object.keys(EventEmitter.prototype).sort().join());

// Arguments arrive as they are given.
const plain = new EventEmitter();
for (let count = 0; count < 6; count++) {
    plain.on(`e${count}`, function (...args) { say(count, args.length, args, this === plain); });
    plain.on(`e${count}`, function () { say(count, arguments.length); });
    plain.once(`e${count}`, (...args) => { say("once", args.length, args); });
}
const args = [1, "two", null, undefined, {}];
for (let count = 0; count < 6; count++) {
    say(plain.emit(`e${count}`, ...args.slice(0, count)));
    say(plain.emit(`e${count}`, ...args.slice(0, count)));
}
say(plain.emit("nobody", 1), plain.emit("toString"), plain.emit("__proto__"), plain.emit("constructor"));

// Mixed in, inherited, called without new.
function Old() { EventEmitter.call(this); }
util.inherits(Old, EventEmitter);
const old = new Old();
old.on("a", (value) => say("old", value));
old.emit("a", 1);
say(Object.keys(old).join(), old._eventsCount, old._maxListeners);
const mixed = Object.assign(function app() {}, EventEmitter.prototype);
say(mixed._events, mixed.on("x", () => say("mixed")) === mixed, mixed.emit("x"), mixed._eventsCount);
const lazy = Object.create(EventEmitter.prototype);
say(Object.keys(lazy), lazy.emit("q"), lazy.listenerCount("q"), lazy.eventNames());
lazy.on("q", () => say("lazy q"));
say(lazy.emit("q"), Object.keys(lazy).join());
class Modern extends EventEmitter { constructor() { super(); this.own = 1; } }
const modern = new Modern();
modern.on("z", () => say("modern"));
say(modern.emit("z"), modern instanceof EventEmitter);

// Order, once, prepend, removal while emitting.
const e = new EventEmitter();
e.on("newListener", (name, listener) => say("new", String(name), listener.name));
e.on("removeListener", (name, listener) => say("removed", String(name), listener.listener?.name ?? listener.name));
const a = function a() { say("a"); };
const b = function b() { say("b"); e.removeListener("x", c); e.on("x", d); };
const c = function c() { say("c"); };
const d = function d() { say("d"); };
e.on("x", a).once("x", b).addListener("x", c).prependListener("x", d).prependOnceListener("x", c);
say(e.listeners("x").map((f) => f.name), e.rawListeners("x").map((f) => typeof f.listener));
say(e.emit("x"));
say(e.emit("x"));
say(e.listenerCount("x"), e.listenerCount("x", d), e.listenerCount("x", a), e.eventNames());
e.off("x", a);
e.off("x", () => {});
e.removeListener("none", a);
const symbol = Symbol("s");
e.on(symbol, a);
say(e.eventNames(), EventEmitter.listenerCount(e, "x"));
e.removeAllListeners("x");
e.removeAllListeners();
say(e.eventNames(), e._eventsCount);
const twice = new EventEmitter();
twice.on("t", a);
twice.on("t", a);
twice.removeListener("t", a);
say(twice.listenerCount("t"));
twice.removeListener("t", a);
say(twice.listenerCount("t"), twice.eventNames());
const re = new EventEmitter();
re.once("r", () => re.emit("r"));
re.once("r", () => say("r once"));
re.emit("r");
const many = new EventEmitter();
many.setMaxListeners(0);
let sum = 0;
for (let at = 0; at < 40; at++) many.on("m", (value) => { sum += value; });
many.emit("m", 2);
say(sum);
const stops = new EventEmitter();
stops.on("s", () => { throw new Error("first"); });
stops.on("s", () => say("never"));
attempt("throwing listener", () => stops.emit("s"));

// Errors.
const errors = new EventEmitter();
attempt("error", () => errors.emit("error", new TypeError("mine")));
attempt("no error", () => errors.emit("error"));
attempt("text", () => errors.emit("error", "text"));
attempt("object", () => errors.emit("error", { a: 1 }));
attempt("null", () => errors.emit("error", null));
errors.on(errorMonitor, (error) => say("monitored", error?.message ?? error));
attempt("monitored", () => errors.emit("error", new Error("seen")));
errors.on("error", (error) => say("handled", error.message));
attempt("handled", () => errors.emit("error", new Error("seen")));
for (const bad of [undefined, null, "f", {}, 5]) {
    attempt("on", () => errors.on("x", bad));
    attempt("once", () => errors.once("x", bad));
    attempt("off", () => errors.off("x", bad));
    attempt("prepend", () => errors.prependListener("x", bad));
    attempt("max", () => typeof errors.setMaxListeners(bad));
}
attempt("max -1", () => errors.setMaxListeners(-1));
attempt("max NaN", () => errors.setMaxListeners(NaN));
attempt("default max", () => { EventEmitter.defaultMaxListeners = -1; });
attempt("capture", () => new EventEmitter({ captureRejections: "yes" }) && "fine");
attempt("capture static", () => { EventEmitter.captureRejections = 1; });

// Warnings of leaks.
process.on("warning", (warning) => say(warning.name, warning.message, warning.type, warning.count, warning.emitter === leaky || warning.emitter === leaky2));
const leaky = new EventEmitter();
leaky.setMaxListeners(2);
for (let at = 0; at < 5; at++) leaky.on("leak", () => {});
say(leaky.getMaxListeners(), EventEmitter.getMaxListeners?.(leaky));
const leaky2 = new Modern();
for (let at = 0; at < 12; at++) leaky2.on(symbol, () => {});
setMaxListeners(30, leaky2);
say(leaky2.getMaxListeners());

// Rejections.
const capturing = new EventEmitter({ captureRejections: true });
capturing.on("work", async (value) => { throw new Error(`rejected ${value}`); });
capturing.on("error", (error) => say("captured", error.message));
capturing.emit("work", 1);
const own = new EventEmitter({ captureRejections: true });
own[captureRejectionSymbol] = (error, name, ...rest) => say("own", error.message, name, rest);
own.on("work", async () => { throw new Error("x"); });
own.emit("work", 1, 2);

(async () => {
    const source = new EventEmitter();
    setImmediate(() => source.emit("ready", 1, 2));
    say(await once(source, "ready"));
    setImmediate(() => source.emit("error", new Error("before")));
    await once(source, "ready").catch((error) => say("rejected", error.message));
    setImmediate(() => source.emit("error", new Error("awaited")));
    say((await once(source, "error"))[0].message, source.eventNames());
    const controller = new AbortController();
    setImmediate(() => controller.abort());
    await once(source, "ready", { signal: controller.signal }).catch((error) => say(error.name, error.code, error.message, error.cause?.name));
    await once(source, "ready", { signal: controller.signal }).catch((error) => say(error.name));
    await once({}, "x").catch((error) => say(error.code, error.message));
    await once(source, "x", { signal: {} }).catch((error) => say(error.code, error.message));
    say(source.eventNames());

    setImmediate(() => { for (let at = 0; at < 3; at++) source.emit("tick", at); source.emit("close"); });
    for await (const [at] of on(source, "tick", { close: ["close"] })) say("tick", at);
    setImmediate(() => { source.emit("tick", 1); source.emit("error", new Error("in loop")); });
    try {
        for await (const values of on(source, "tick")) say(values);
    } catch (error) {
        say("loop", error.message);
    }
    const second = new AbortController();
    setImmediate(() => { source.emit("tick", 7); second.abort(); });
    try {
        for await (const values of on(source, "tick", { signal: second.signal })) say(values);
    } catch (error) {
        say("loop", error.name, error.code);
    }
    const iterator = on(source, "tick");
    const pending = iterator.next();
    say(await iterator.return(), await pending, await iterator.next());
    say(source.eventNames(), getEventListeners(source, "tick").length);
    source.on("tick", a);
    say(getEventListeners(source, "tick").map((f) => f.name));
    attempt("getEventListeners", () => getEventListeners({}, "x"));
    attempt("addAbortListener", () => addAbortListener(undefined, () => {}));
    const third = new AbortController();
    const disposable = addAbortListener(third.signal, () => say("aborted"));
    say(typeof disposable[Symbol.dispose]);
    third.abort();
    const target = new EventTarget();
    setImmediate(() => target.dispatchEvent(new Event("hi")));
    say((await once(target, "hi"))[0].type);
})();

const resource = new EventEmitter.EventEmitterAsyncResource({ name: "Mine" });
resource.on("x", function (value) { say("resource", value, this === resource); });
say(resource.emit("x", 1), typeof resource.asyncId, resource instanceof EventEmitter, EventEmitter.EventEmitterAsyncResource === EventEmitter.EventEmitterAsyncResource);
const listened = new EventTarget();
listened.addEventListener("a", () => {});
say(getEventListeners(listened, "a").length, getEventListeners(listened, "b").length);
