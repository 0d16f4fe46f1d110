// The order in which a graph of ES modules with top-level await runs, and what dynamic imports see of it.
import { first } from "./order/first.mjs";
import * as second from "./order/second.mjs";
import shared, { count } from "./order/shared.cjs";

console.log("body", first, second.value, count, shared.count);
queueMicrotask(() => console.log("microtask of the body"));
const value = await Promise.resolve("awaited");
console.log(value);
const again = await import("./order/second.mjs");
console.log("same namespace", again === second, Object.keys(again).join());
try {
    await import("./order/throws.mjs");
} catch (error) {
    console.log("import threw", error.message);
}
try {
    await import("./order/throws.mjs");
} catch (error) {
    console.log("import threw again", error.message);
}
try {
    await import("./order/absent.mjs");
} catch (error) {
    console.log("absent", error.code);
}
console.log((await Promise.all([import("./order/late.mjs"), import("./order/late.mjs")])).map(({ late }) => late).join());
second.change();
console.log("live binding", second.value);
for await (const each of (async function* numbers() {
    yield 1;
    await null;
    yield Promise.resolve(2);
})()) console.log("for await", each);
console.log(import.meta.url.endsWith("/order_modules.mjs"), typeof require, typeof module, this === undefined);
