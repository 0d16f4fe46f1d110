// Streams as programs use them; each case waits for the one before.
const { Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished, Stream, addAbortSignal, compose } = require("node:stream");
const stream = require("node:stream");
const promises = require("node:stream/promises");
const consumers = require("node:stream/consumers");
const say = (...values) => console.log(...values);
const cases = [];
const about = (name, run) => cases.push([name, run]);
const ended = (target, ...events) => new Promise((resolve) => { for (const name of events) target.on(name, (value) => resolve([name, value instanceof Error ? value.message : value])); });

about("shape", () => {
    say(stream === Stream, stream.Stream === Stream, typeof stream.promises.pipeline, Object.keys(Stream).sort().join());
    const d = new Duplex({ read() {}, write() {} });
    say(d instanceof Readable, d instanceof Writable, d instanceof Stream, new Transform() instanceof Writable, new Readable() instanceof Writable, {} instanceof Writable);
    say(new PassThrough() instanceof Transform, Readable.prototype instanceof Stream);
    const called = Readable.call(Object.create(Readable.prototype), {});
    say(called, Readable({ read() {} }) instanceof Readable, Writable({}) instanceof Writable);
    say(new Readable({ objectMode: true }).readableHighWaterMark, new Writable({ highWaterMark: 5 }).writableHighWaterMark, stream.getDefaultHighWaterMark(true));
    say(Object.getOwnPropertyNames(Readable.prototype).filter((name) => !name.startsWith("_")).sort().join());
    say(Object.getOwnPropertyNames(Writable.prototype).filter((name) => !name.startsWith("_")).sort().join());
});
about("flowing", async () => {
    const r = new Readable({ read() {} });
    const order = [];
    for (const name of ["readable", "pause", "resume", "end", "close"]) if (name !== "readable") r.on(name, () => order.push(name));
    r.on("data", (chunk) => order.push(chunk.toString()));
    r.push("one"); r.push(Buffer.from("two")); r.push(""); r.push(null);
    await ended(r, "close");
    say(order, r.destroyed, r.readableEnded, r.closed, r.readableFlowing, r.readable);
});
about("paused", async () => {
    const r = new Readable({ read() {}, highWaterMark: 4 });
    say(r.push("abc"), r.push("def"), r.readableLength, r.read(2)?.toString(), r.read(10), r.read()?.toString(), r.read());
    const done = ended(r, "end");
    r.on("readable", () => { let chunk; while ((chunk = r.read()) !== null) say("readable", chunk.toString()); });
    r.push("last"); r.push(null);
    await done;
});
about("encoding", async () => {
    const r = new Readable({ read() {} }).setEncoding("utf8");
    const bytes = Buffer.from("\u20acuro\ud83d\ude00");
    for (const byte of bytes) r.push(Buffer.from([byte]));
    r.push(null);
    let text = "";
    for await (const part of r) { say(typeof part); text += part; }
    say(text, r.readableEncoding);
});
about("iterate", async () => {
    for await (const part of Readable.from(["a", "b", { c: 1 }])) say(part);
    for await (const part of Readable.from((async function* () { yield 1; yield 2; })())) say(part);
    const text = Readable.from("whole text");
    for await (const part of text) say(part);
    const cut = Readable.from([1, 2, 3]);
    for await (const part of cut) { say(part); break; }
    say(cut.destroyed);
    try { for await (const part of Readable.from((function* () { yield 1; throw new Error("inside"); })())) say(part); } catch (error) { say(error.message); }
    try { Readable.from(5); } catch (error) { say(error.code, error.message); }
    try { Readable.from(null); } catch (error) { say(error.code, error.message); }
});
about("writing", async () => {
    const seen = [];
    const w = new Writable({ highWaterMark: 4, write(chunk, encoding, done) { seen.push([chunk.toString(), encoding]); setImmediate(done); } });
    const order = [];
    for (const name of ["drain", "prefinish", "finish", "close"]) w.on(name, () => order.push(name));
    say(w.write("ab"), w.write("cdef"), w.writableLength, w.writableNeedDrain);
    w.cork(); w.write("1"); w.write("2"); w.uncork();
    w.end("last", () => order.push("end callback"));
    say(w.writableEnded, w.writableFinished);
    await ended(w, "close");
    say(seen, order, w.writableFinished, w.destroyed, w.writable);
});
about("writev and final", async () => {
    const w = new Writable({ decodeStrings: false, writev(chunks, done) { say(chunks.map(({ chunk, encoding }) => `${chunk}:${encoding}`)); done(); }, final(done) { say("final"); done(); } });
    w.cork(); w.write("a"); w.write("b", "latin1"); w.uncork(); w.end();
    await ended(w, "finish");
});
about("views", async () => {
    const seen = [];
    const w = new Writable({ write(chunk, encoding, done) { seen.push(Buffer.isBuffer(chunk), chunk.toString("hex")); done(); } });
    for (const view of [new Uint16Array([258]), new DataView(new Uint8Array([1, 2]).buffer), new Uint8Array([7])]) w.write(view);
    w.end();
    await ended(w, "close");
    const r = new Readable({ read() {} });
    r.push(new Uint16Array([258])); r.push(null);
    say(seen, (await r.toArray()).map((chunk) => chunk.toString("hex")));
});
about("errors of writing", async () => {
    const w = new Writable({ write(chunk, encoding, done) { done(new Error("refused")); } });
    w.write("x", (error) => say("callback", error.message));
    say(await ended(w, "error"));
    say(w.errored?.message, w.destroyed);
    const after = new Writable({ write(c, e, done) { done(); } });
    after.end();
    after.on("error", (error) => say(error.code, error.message, error.name));
    after.write("x", (error) => say("after end", error.code));
    await ended(after, "close");
    const nothing = new Writable({ write(c, e, done) { done(); } });
    for (const bad of [null, 5, {}, undefined]) try { nothing.write(bad); } catch (error) { say(error.name, error.code, error.message); }
    try { nothing.write("x", "nope"); } catch (error) { say(error.name, error.code, error.message); }
    const bare = new Writable();
    bare.on("error", (error) => say(error.code, error.message));
    try { bare.write("x"); } catch (error) { say(error.code); }
    const bareRead = new Readable();
    bareRead.on("error", (error) => say(error.code, error.message));
    bareRead.read();
    await ended(bareRead, "close");
});
about("errors of reading", async () => {
    const r = new Readable({ read() {} });
    r.push(null); r.on("error", (error) => say(error.code, error.message)); r.push("late"); r.resume();
    await ended(r, "close");
    const wrong = new Readable({ read() {} });
    wrong.on("error", (error) => say(error.code, error.message)); wrong.push({});
    await ended(wrong, "close");
    for (const options of [{ highWaterMark: -1 }, { highWaterMark: "a" }, { encoding: "nope" }]) try { new Readable(options); say("made"); } catch (error) { say(error.name, error.code, error.message); }
});
about("destroy", async () => {
    const r = new Readable({ read() {}, destroy(error, done) { say("destroying", error?.message); done(error); } });
    r.destroy(new Error("over"));
    say(await ended(r, "error"), r.destroyed);
    const w = new Writable({ write(c, e, done) { setImmediate(done); } });
    w.write("x", (error) => say("write", error?.code));
    w.write("y", (error) => say("second", error?.code));
    w.destroy();
    await ended(w, "close");
    const closed = new Writable({ emitClose: false, autoDestroy: false, write(c, e, done) { done(); } });
    closed.end();
    say(await ended(closed, "finish"), closed.destroyed);
});
about("pipe", async () => {
    const seen = [];
    const upper = new Transform({ transform(chunk, encoding, done) { done(null, chunk.toString().toUpperCase()); }, flush(done) { this.push("!"); done(); } });
    const to = new Writable({ highWaterMark: 2, write(chunk, encoding, done) { seen.push(chunk.toString()); setImmediate(done); } });
    to.on("pipe", (source) => say("pipe", source === upper)).on("unpipe", () => say("unpipe"));
    Readable.from(["ab", "cd", "ef"]).pipe(upper).pipe(to);
    await ended(to, "finish");
    say(seen);
});
about("pipeline", async () => {
    await promises.pipeline(Readable.from(["a", "b"]), async function* (source) { for await (const part of source) yield `${part}${part}`; }, async (source) => { for await (const part of source) say(part); });
    await new Promise((resolve) => pipeline(Readable.from(["x"]), new PassThrough(), new Writable({ write(c, e, done) { done(new Error("sink")); } }), (error) => { say(error?.message); resolve(); }));
    await promises.pipeline(Readable.from(["x"]), new Transform({ transform(chunk, encoding, done) { done(new Error("told")); } }), new PassThrough()).catch((error) => say(error.message));
    const early = new PassThrough();
    const waiting = promises.pipeline(early, new PassThrough().resume()).catch((error) => say(error.code, error.message));
    early.destroy();
    await waiting;
    try { pipeline(new PassThrough()); } catch (error) { say(error.code, error.message); }
    try { pipeline(() => {}); } catch (error) { say(error.code, error.message); }
    const controller = new AbortController();
    const aborted = promises.pipeline(new Readable({ read() {} }), new PassThrough(), { signal: controller.signal }).catch((error) => say(error.name, error.code));
    controller.abort();
    await aborted;
});
about("finished", async () => {
    const r = Readable.from(["a"]);
    r.resume();
    await promises.finished(r);
    const p = new PassThrough();
    const wait = new Promise((resolve) => finished(p, (error) => { say(error?.code, error?.message); resolve(); }));
    p.destroy();
    await wait;
    const failing = new PassThrough();
    const failed = promises.finished(failing).catch((error) => say(error.message));
    failing.destroy(new Error("broken"));
    await failed;
    try { finished({}, () => {}); } catch (error) { say(error.code, error.message); }
});
about("operators", async () => {
    const numbers = () => Readable.from([1, 2, 3, 4, 5]);
    say(await numbers().map((x) => x * 2).toArray(), await numbers().filter((x) => x % 2).toArray(), await numbers().take(2).toArray(), await numbers().drop(3).toArray());
    say(await numbers().reduce((sum, x) => sum + x, 0), await numbers().some((x) => x > 4), await numbers().every((x) => x > 1), await numbers().find((x) => x > 3));
    say(await numbers().flatMap((x) => [x, x]).toArray());
    await numbers().forEach((x) => say(x));
    const both = compose(async function* (source) { for await (const part of source) yield String(part).toUpperCase(); }, new PassThrough({ objectMode: true }));
    both.end("abc");
    say((await both.toArray()).map(String));
});
about("signals", async () => {
    const controller = new AbortController();
    const r = addAbortSignal(controller.signal, new Readable({ read() {} }));
    const over = ended(r, "error");
    controller.abort();
    say(await over);
    const reason = new AbortController();
    const w = new Writable({ signal: reason.signal, write() {} });
    w.on("error", (error) => say(error.name, error.code, error.cause?.message));
    reason.abort(new Error("because"));
    await ended(w, "close");
});
about("duplex", async () => {
    const d = new Duplex({ allowHalfOpen: false, read() { this.push("out"); this.push(null); }, write(chunk, e, done) { say("in", chunk.toString()); done(); } });
    d.write("x");
    d.resume();
    await ended(d, "close");
    const from = Duplex.from(async function* (source) { for await (const part of source) yield `<${part}>`; });
    from.end("y");
    say((await from.toArray()).map(String));
});
about("pair", async () => {
    const [one, other] = stream.duplexPair();
    other.on("data", (chunk) => { say("other", chunk.toString()); other.write("back"); other.end(); });
    one.on("data", (chunk) => say("one", chunk.toString()));
    one.end("there");
    await ended(one, "close");
});
about("consumers", async () => {
    const bytes = () => Readable.from([Buffer.from("{\"a\":"), Buffer.from("\"\u20ac\"}")]);
    say(await consumers.text(bytes()), await consumers.json(bytes()), await consumers.buffer(bytes()), (await consumers.arrayBuffer(bytes())).byteLength);
});
about("legacy", async () => {
    const source = new Stream();
    source.readable = true;
    const to = new PassThrough();
    source.pipe(to);
    source.emit("data", "old"); source.emit("end");
    say(await consumers.text(to));
    const r = new Readable({ read() {} });
    r.push("abc"); r.unshift("x"); r.push(null);
    say(await consumers.text(r));
    say(stream.isReadable(r), stream.isErrored(r), stream.isDisturbed(r));
    say(Readable.prototype.hasOwnProperty("destroyed"), typeof Stream._isUint8Array, Stream._uint8ArrayToBuffer(new Uint8Array([1])));
});
(async () => {
    for (const [name, run] of cases) {
        say(`-- ${name}`);
        await run();
    }
})().catch((error) => say("failed", error));
