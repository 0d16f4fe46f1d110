// The libraries of Express that read and write streams: bodies in, files out, on messages that are only streams.
const { createRequire } = require("node:module");
const { join } = require("node:path");
const { Readable, Writable } = require("node:stream");
const { gzipSync, deflateSync } = require("node:zlib");
const load = createRequire(join(__dirname, "../../../../../packages/leat/package.json"));

function request(headers, ...chunks) {
    const req = Readable.from(chunks.map((chunk) => Buffer.from(chunk)), { objectMode: false });
    return Object.assign(req, { headers: { "content-length": String(chunks.reduce((sum, chunk) => sum + Buffer.from(chunk).length, 0)), ...headers }, method: "POST", url: "/", httpVersionMajor: 1 });
}

const parse = (parser, req) => new Promise((resolve) => void parser(req, {}, (error) => resolve(error === undefined ? req.body : error)));
// What JSON.parse says is each engine's own.
const told = (value) => (value instanceof Error ? `${value.name} ${value.type} ${value.status} ${value instanceof SyntaxError ? typeof value.message : value.message}` : Buffer.isBuffer(value) ? `buffer ${value.toString("hex")}` : JSON.stringify(value));

async function bodies() {
    const { json, urlencoded, text, raw } = load("body-parser");
    const type = (value, more) => ({ "content-type": value, ...more });
    const table = [
        ["json", json(), request(type("application/json"), '{"a":', "1}")],
        ["json bad", json(), request(type("application/json"), '{"a":')],
        ["json strict", json(), request(type("application/json"), "1")],
        ["json not strict", json({ strict: false }), request(type("application/json"), "1")],
        ["json empty", json(), request(type("application/json", { "content-length": "0" }))],
        ["json large", json({ limit: 5 }), request(type("application/json"), "[1,2,3,4]")],
        ["json gzip", json(), request(type("application/json", { "content-encoding": "gzip", "content-length": undefined, "transfer-encoding": "chunked" }), gzipSync('{"z":true}'))],
        ["json deflate", json(), request(type("application/json", { "content-encoding": "deflate", "content-length": undefined, "transfer-encoding": "chunked" }), deflateSync('{"z":true}'))],
        ["json unknown encoding", json(), request(type("application/json", { "content-encoding": "x" }), "{}")],
        ["json utf-16", json(), request(type("application/json; charset=utf-16"), Buffer.from("\ufeff{\"a\":2}", "utf16le"))],
        ["json bad charset", json(), request(type("application/json; charset=x"), "{}")],
        ["json reviver", json({ reviver: (key, value) => (typeof value === "number" ? value + 1 : value) }), request(type("application/json"), '{"a":1}')],
        ["json verify", json({ verify() { throw new Error("no"); } }), request(type("application/json"), "{}")],
        ["json proto", json(), request(type("application/json"), '{"__proto__":{"x":1}}')],
        ["urlencoded", urlencoded({ extended: true }), request(type("application/x-www-form-urlencoded"), "a[b]=1&c=%C3%BC")],
        ["urlencoded simple", urlencoded({ extended: false }), request(type("application/x-www-form-urlencoded"), "a[b]=1&c=2&c=3")],
        ["urlencoded many", urlencoded({ parameterLimit: 1 }), request(type("application/x-www-form-urlencoded"), "a=1&b=2")],
        ["urlencoded latin1", urlencoded(), request(type("application/x-www-form-urlencoded; charset=iso-8859-1"), "a=%FC")],
        ["text", text(), request(type("text/plain; charset=latin1"), Buffer.from([0xfc]))],
        ["raw", raw(), request(type("application/octet-stream"), Buffer.from([0, 1, 255]))],
        ["other type", raw(), request(type("image/png"), "x")],
        ["short", raw(), request(type("application/octet-stream", { "content-length": "9" }), "abc")],
    ];
    for (const [label, parser, req] of table) console.log(label, told(await parse(parser, req)));
}

class Reply extends Writable {
    headers = {};
    statusCode = 200;
    headersSent = false;
    chunks = [];
    setHeader(name, value) { this.headers[name.toLowerCase()] = value; }
    getHeader(name) { return this.headers[name.toLowerCase()]; }
    removeHeader(name) { delete this.headers[name.toLowerCase()]; }
    getHeaderNames() { return Object.keys(this.headers); }
    _write(chunk, encoding, done) { this.headersSent = true; this.chunks.push(chunk); done(); }
}

async function files() {
    const send = load("send");
    const root = __dirname;
    const { writeFileSync, utimesSync, mkdtempSync, rmSync, mkdirSync } = require("node:fs");
    const { tmpdir } = require("node:os");
    const folder = mkdtempSync(join(tmpdir(), "leat-twin-"));
    writeFileSync(join(folder, "a.txt"), "0123456789");
    writeFileSync(join(folder, ".hidden"), "h");
    mkdirSync(join(folder, "sub"));
    // Entity tags are made of the time.
    for (const name of ["a.txt", ".hidden"]) utimesSync(join(folder, name), 1577934245.678, 1577934245.678);
    for (const [path, headers, options] of [
        ["/a.txt", {}], ["/a.txt", { range: "bytes=2-4" }], ["/a.txt", { range: "bytes=20-" }], ["/a.txt", { "if-none-match": 'W/"a-16f63eda22e"' }], ["/a.txt", { "if-modified-since": "Thu, 02 Jan 2020 03:04:05 GMT" }],
        ["/missing", {}], ["/.hidden", {}], ["/.hidden", {}, { dotfiles: "allow" }], ["/sub", {}], ["/../x", {}], ["/%00", {}], ["/%zz", {}], ["/a.txt", {}, { maxAge: "1d", immutable: true }], ["/a", {}, { extensions: ["txt"] }],
    ]) {
        const res = new Reply();
        const req = { headers, method: "GET", url: path, socket: {} };
        const events = [];
        await new Promise((resolve) => {
            res.on("finish", resolve);
            send(req, path, { root: folder, ...options }).on("error", (error) => (events.push(`error ${error.status} ${error.code ?? ""} ${error.message.replaceAll(folder, "DIR")}`), resolve()))
                .on("directory", () => (events.push("directory"), resolve())).on("file", (file) => events.push(`file ${file.slice(folder.length)}`)).on("end", () => events.push("end")).pipe(res);
        });
        console.log(path, JSON.stringify(headers), res.statusCode, JSON.stringify(res.headers), Buffer.concat(res.chunks).toString(), events.join(" | "));
    }
    rmSync(folder, { recursive: true });
    void root;
}

async function ends() {
    const onFinished = load("on-finished");
    const res = new Reply();
    onFinished(res, (error) => console.log("finished", error?.message, onFinished.isFinished(res)));
    res.end("x");
    await new Promise((resolve) => setImmediate(resolve));
    const final = load("finalhandler");
    for (const error of [undefined, new Error("boom"), Object.assign(new Error("<b>"), { status: 403, headers: { "X-A": "1" } }), "text", 7]) {
        const reply = Object.assign(new Reply(), { statusMessage: "" });
        const req = Object.assign(Readable.from([]), { method: "GET", url: "/a?b", originalUrl: "/a?b", headers: {}, complete: true });
        const done = new Promise((resolve) => reply.on("finish", resolve));
        final(req, reply, { env: "production", onerror: (seen) => console.log("onerror", String(seen)) })(error);
        await done;
        console.log(reply.statusCode, reply.statusMessage, JSON.stringify(reply.headers), Buffer.concat(reply.chunks).toString());
    }
}

bodies().then(files).then(ends);
