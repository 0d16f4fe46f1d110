// node:readline, tty and the modules that say what is not there.
const readline = require("readline");
const { Readable } = require("stream");

async function main() {
    const lines = [];
    await new Promise((resolve) => {
        const reader = readline.createInterface({ input: Readable.from(["one\ntw", "o\r", "\nthree\n\nlast"]), crlfDelay: Infinity });
        reader.on("line", (line) => lines.push(line));
        reader.on("close", resolve);
    });
    console.log(lines);
    const seen = [];
    for await (const line of readline.createInterface({ input: Readable.from(["a\nb\n", "c"]) })) seen.push(line);
    console.log(seen);
    const out = { text: "", write(text) { this.text += text; return true; } };
    const { createInterface } = require("readline/promises");
    void createInterface;
    const { isMainThread, threadId, parentPort } = require("worker_threads");
    console.log(isMainThread, threadId, parentPort, out.text);
    console.log(require("tty").isatty(999), require("tty").isatty("0"));
    console.log(require("vm").runInThisContext("1 + 1"), new (require("vm").Script)("2 * 3").runInThisContext());
    console.log(typeof require("v8").getHeapStatistics().used_heap_size);
}
main();
