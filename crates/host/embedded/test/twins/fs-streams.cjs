// Files as streams.
const fs = require("fs");
const os = require("os");
const path = require("path");
const { pipeline } = require("stream");

const root = fs.mkdtempSync(path.join(os.tmpdir(), "leat-streams-"));
const at = (name) => path.join(root, name);
const shown = (text) => String(text).replaceAll(root, "ROOT");
fs.writeFileSync(at("a"), "0123456789");
fs.writeFileSync(at("big"), Buffer.alloc(300_000, "x"));

function read(name, ...given) {
    return new Promise((resolve) => {
        const events = [];
        let stream;
        try {
            stream = fs.createReadStream(...given);
        } catch (error) {
            console.log(name, "throws", error.code, shown(error.message));
            return resolve();
        }
        let text = "";
        let chunks = 0;
        for (const event of ["open", "ready", "end", "close"]) stream.on(event, () => events.push(event));
        stream.on("error", (error) => events.push(`error ${error.code} ${shown(error.message)}`));
        stream.on("data", (chunk) => ((text += chunk), chunks++));
        stream.on(given[1]?.emitClose === false ? "end" : "close", () => {
            console.log(name, events.join(), text.length > 20 ? text.length : text, chunks, stream.bytesRead, shown(stream.path), stream.destroyed, stream.pending);
            resolve();
        });
    });
}

async function main() {
    await read("whole", at("a"));
    await read("range", at("a"), { start: 2, end: 5 });
    await read("from", at("a"), { start: 7 });
    await read("to", at("a"), { end: 3 });
    await read("text", at("a"), "utf8");
    await read("small", at("a"), { highWaterMark: 3 });
    await read("big", at("big"));
    await read("missing", at("none"));
    await read("folder", root);
    await read("empty range", at("a"), { start: 10, end: 12 });
    await read("bad range", at("a"), { start: 5, end: 2 });
    await read("bad start", at("a"), { start: "5" });
    await read("fd", null, { fd: fs.openSync(at("a")), start: 1 });
    await new Promise((resolve) => {
        const out = fs.createWriteStream(at("out"));
        const events = [];
        for (const event of ["open", "ready", "finish", "close", "drain"]) out.on(event, () => events.push(event));
        out.on("close", () => {
            console.log("write", events.join(), out.bytesWritten, fs.readFileSync(at("out"), "utf8"));
            resolve();
        });
        out.write("one,");
        out.write(Buffer.from("two,"));
        out.end("dHJlZQ==", "base64");
    });
    for (const [name, options] of [["append", { flags: "a" }], ["at", { flags: "r+", start: 2 }], ["over", {}], ["exclusive", { flags: "wx" }]]) {
        await new Promise((resolve) => {
            const out = fs.createWriteStream(at("out"), options);
            out.on("error", (error) => console.log(name, error.code, shown(error.message)));
            out.on("close", () => {
                console.log(name, fs.readFileSync(at("out"), "utf8"));
                resolve();
            });
            out.end("XY");
        });
    }
    await new Promise((resolve) => pipeline(fs.createReadStream(at("big")), fs.createWriteStream(at("copy")), (error) => resolve(console.log("pipeline", error, fs.statSync(at("copy")).size))));
    await new Promise((resolve) => pipeline(fs.createReadStream(at("none")), fs.createWriteStream(at("copy")), (error) => resolve(console.log("pipeline", error.code))));
    const parts = [];
    for await (const chunk of fs.createReadStream(at("a"), { encoding: "utf8", highWaterMark: 4 })) parts.push(chunk);
    console.log(parts);
    await new Promise((resolve) => {
        const stream = fs.createReadStream(at("big"));
        stream.once("data", () => stream.destroy());
        stream.on("close", () => resolve(console.log("destroyed", stream.destroyed)));
    });
    await new Promise((resolve) => fs.createWriteStream(at("none/x")).on("error", (error) => resolve(console.log(error.code, error.syscall))));
    fs.rmSync(root, { recursive: true });
}
main();
