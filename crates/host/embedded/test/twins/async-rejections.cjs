// A rejection that nobody handles ends the process, whether or not contexts are carried.
const { AsyncLocalStorage } = require("node:async_hooks");

const storage = new AsyncLocalStorage();
const same = (promise) => Promise.resolve(promise) === promise;

storage.run("mine", () => {
    const handled = Promise.reject(new Error("handled"));
    console.log(same(handled));
    handled.catch((error) => console.log(error.message, storage.getStore()));
    Promise.all([Promise.resolve(Promise.resolve(1)), 2]).then((all) => console.log(all, storage.getStore()));
    (async () => {
        try {
            await Promise.resolve(Promise.reject(new Error("awaited")));
        } catch (error) {
            console.log(error.message, storage.getStore());
        }
    })();
    class Own extends Promise {}
    const own = Own.resolve(Promise.resolve("own"));
    console.log(own instanceof Own);
    own.then((value) => console.log(value, storage.getStore()));
});
process.on("exit", (code) => console.log("exit", code));
setTimeout(() => {
    const lost = Promise.reject(new Error("lost"));
    console.log(same(lost));
}, 20);
setTimeout(() => console.log("never"), 2000);
