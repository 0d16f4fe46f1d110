// The modules of streams, events and buffers by every name, as ES modules.
import events, { EventEmitter, once } from "node:events";
import stream, { Readable, Writable, pipeline as callbackPipeline } from "stream";
import { pipeline, finished } from "node:stream/promises";
import { text, json, buffer } from "node:stream/consumers";
import { Buffer as Named, constants } from "buffer";
import { StringDecoder } from "string_decoder";
import { promisify } from "node:util";
console.log(events === EventEmitter, stream.Readable === Readable, Named === Buffer, typeof StringDecoder, typeof constants.MAX_LENGTH);
console.log(promisify(callbackPipeline) === pipeline, promisify(stream.finished) === finished, stream.promises.pipeline === pipeline);
const parts = [];
await pipeline(Readable.from(["a", "b"]), async function* (source) {
    for await (const part of source) yield part.toUpperCase();
}, new Writable({ objectMode: true, write(chunk, encoding, done) { parts.push(chunk); done(); } }));
console.log(parts, await text(Readable.from(["x", "y"])), await json(Readable.from(["[1", ",2]"])), await buffer(Readable.from([Buffer.from("z")])));
const emitter = new EventEmitter();
queueMicrotask(() => emitter.emit("go", 1));
console.log(await once(emitter, "go"));

// Order of events beside ticks, promises and timers.
const order = [];
const readable = new Readable({ read() {} });
readable.on("data", (chunk) => order.push(`data ${chunk}`));
readable.on("end", () => order.push("end"));
readable.on("close", () => order.push("close"));
process.nextTick(() => order.push("tick"));
Promise.resolve().then(() => order.push("promise"));
setImmediate(() => order.push("immediate"));
readable.push("1");
order.push("pushed");
readable.push(null);
await once(readable, "close");
await new Promise((resolve) => setImmediate(resolve));
console.log(order);

// Backpressure: a slow sink sees everything, and never more than its mark in between.
let most = 0;
let total = 0;
const slow = new Writable({ highWaterMark: 1000, write(chunk, encoding, done) { total += chunk.length; most = Math.max(most, slow.writableLength); setImmediate(done); } });
let left = 50;
const fast = new Readable({ highWaterMark: 500, read() { this.push(left-- > 0 ? Buffer.alloc(300) : null); } });
await pipeline(fast, slow);
console.log(total, most <= 1300);
