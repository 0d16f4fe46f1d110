const { channel, subscribe, unsubscribe, hasSubscribers, tracingChannel } = require("diagnostics_channel");
const one = channel("one");
const listener = (message, name) => console.log("got", message, name);
one.subscribe(listener);
subscribe("one", () => { throw new Error("in a listener"); });
process.on("uncaughtException", (error) => console.log("uncaught", error.message));
console.log(one.hasSubscribers, hasSubscribers("one"), hasSubscribers("two"), channel("one") === one);
one.publish({ a: 1 });
console.log(unsubscribe("one", listener), unsubscribe("one", listener));
const traced = tracingChannel("work");
for (const step of ["start", "end", "asyncStart", "asyncEnd", "error"]) traced[step].subscribe((message) => console.log(step, message.id));
console.log(traced.traceSync((a) => a + 1, { id: 1 }, null, 1));
try {
    traced.traceSync(() => { throw new Error("sync"); }, { id: 2 });
} catch (error) {
    console.log(error.message);
}
traced.traceCallback((value, done) => setTimeout(done, 1, null, value), -1, { id: 3 }, null, "v", (error, value) => console.log("callback", error, value));
setTimeout(() => traced.tracePromise(async () => "p", { id: 4 }).then((value) => console.log("promise", value)), 20);
