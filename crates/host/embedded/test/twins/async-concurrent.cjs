// Many at once: none sees another's store.
const { AsyncLocalStorage } = require("async_hooks");
const als = new AsyncLocalStorage();
let wrong = 0;
const check = (id) => {
    if (als.getStore() !== id) wrong++;
};
const step = [
    () => null,
    () => new Promise((resolve) => setTimeout(resolve, 1)),
    () => new Promise((resolve) => setImmediate(resolve)),
    () => new Promise((resolve) => process.nextTick(resolve)),
    () => Promise.reject(1).catch(() => {}),
    () => Promise.all([null, new Promise((resolve) => setTimeout(resolve, 2))]),
    () => ({ then: (resolve) => queueMicrotask(resolve) }),
    async () => void (await null),
];
Promise.all(
    Array.from({ length: 50 }, (_, id) =>
        als.run(id, async () => {
            for (let at = 0; at < 40; at++) {
                await step[(id * 7 + at * 3) % step.length]();
                check(id);
                Promise.resolve(at).then(() => check(id));
            }
        }),
    ),
).then(() => console.log("wrong", wrong, als.getStore()));
