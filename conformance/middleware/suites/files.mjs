// Files, and bodies that are packed on their way.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { MIB, bytesOf, digest, pieces } from "../../frameworks/bytes.mjs";
import { major, use } from "../subjects.mjs";
import { middleware } from "../suite.mjs";

const serveStatic = await use("serve-static");
const serveIndex = await use("serve-index");
const favicon = await use("serve-favicon");
const staticGzip = await use("express-static-gzip");
const sirv = await use("sirv");
const history = await use("connect-history-api-fallback");
const compression = await use("compression");

// A fixed name, since it stands in listings; the process' own, since others run beside it.
const root = join(mkdtempSync(join(tmpdir(), "leat-files-")), "site");
process.once("exit", () => rmSync(join(root, ".."), { recursive: true, force: true }));
const files = {
    "index.html": "<!doctype html><title>leat</title>\n",
    "large.bin": bytesOf(2 * MIB),
    "a b/über.txt": "in a folder",
    ".hidden": "secret",
    "page.html": "by its extension",
    "favicon.ico": bytesOf(1_024),
    "app.js": "const plain = true;",
    "app.js.gz": gzipSync("const plain = true;"),
    "app.js.br": brotliCompressSync("const plain = true;"),
};
mkdirSync(join(root, "a b"), { recursive: true });
for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(root, name), content);
    utimesSync(join(root, name), 1_700_000_000, 1_700_000_000);
}
utimesSync(join(root, "a b"), 1_700_000_000, 1_700_000_000);

middleware("serve-static", ({ express, it }) => {
    it("files, folders, ranges, conditions", async ({ listen }) => {
        const peer = await listen(express().use("/files", serveStatic(root, { maxAge: "1d", immutable: true })));
        const index = await peer.get("/files/");
        assert.deepEqual([index.text, index.headers["cache-control"]], [files["index.html"], "public, max-age=86400, immutable"]);
        const redirect = await peer.get("/files/a%20b?q=1");
        assert.deepEqual([redirect.status, redirect.headers.location], [301, "/files/a%20b/?q=1"]);
        assert.equal((await peer.get("/files/a%20b/%C3%BCber.txt")).text, "in a folder");
        assert.equal(digest((await peer.get("/files/large.bin")).bytes), digest(files["large.bin"]));
        const range = await peer.get("/files/large.bin", { range: "bytes=-1000" });
        assert.deepEqual([range.status, digest(range.bytes)], [206, digest(files["large.bin"].subarray(-1_000))]);
        assert.equal((await peer.get("/files/large.bin", { range: "bytes=9999999-" })).status, 416);
        assert.equal((await peer.get("/files/", { "if-none-match": index.headers.etag })).status, 304);
        assert.equal((await peer.get("/files/", { "if-modified-since": index.headers["last-modified"] })).status, 304);
        assert.equal((await peer.get("/files/", { "if-match": '"other"' })).status, 412);
        assert.deepEqual([(await peer.request("HEAD", "/files/large.bin")).headers["content-length"], (await peer.request("HEAD", "/files/large.bin")).bytes.length], [String(2 * MIB), 0]);
    });

    it("what is not there goes on, or is refused", async ({ listen }) => {
        const app = express().use(serveStatic(root, { extensions: ["html"], redirect: false, setHeaders: (response, path, stat) => response.set("x-size", String(stat.size)) }));
        app.use("/strict", serveStatic(root, { fallthrough: false, dotfiles: "deny", index: false }));
        app.use((request, response) => response.status(404).json({ on: request.url, method: request.method }));
        app.use((error, request, response, next) => response.status(error.status).json({ error: error.message.replace(root, "ROOT"), allow: response.get("allow") }));
        const peer = await listen(app);
        assert.deepEqual([(await peer.get("/page")).text, (await peer.get("/page")).headers["x-size"]], ["by its extension", "16"]);
        for (const path of ["/none", "/.hidden", "/a%20b", "/%2e%2e/secret", "/%zz"]) assert.ok((await peer.get(path)).status >= 400, path);
        for (const [path, status] of [["/strict/none", 404], ["/strict/.hidden", 403], ["/strict/..%2fsecret", 403], ["/strict/%00", 400]]) assert.equal((await peer.get(path)).status, status, path);
        assert.equal((await peer.request("POST", "/strict/page.html")).status, 405);
        assert.deepEqual((await peer.request("POST", "/page.html")).json, { on: "/page.html", method: "POST" });
    });
});

middleware("serve-index", ({ express, it }) => {
    it("listings as JSON, text and HTML", async ({ listen }) => {
        const peer = await listen(express().use("/list", serveIndex(root, { icons: false, filter: (name) => name !== "large.bin" })), { changing: ["body"] });
        assert.deepEqual((await peer.get("/list/", { accept: "application/json" })).json, ["a b", "app.js", "app.js.br", "app.js.gz", "favicon.ico", "index.html", "page.html"]);
        assert.match((await peer.get("/list/", { accept: "text/plain" })).text, /^a b\napp\.js\n/);
        const html = await peer.get("/list/", { accept: "text/html" });
        assert.match(html.headers["content-type"], /html/);
        assert.match(html.text, /<title>listing directory \/list\/<\/title>/);
        assert.match((await peer.get("/list/a%20b", { accept: "text/html" })).text, /%C3%BCber\.txt/);
    });

    it("what it does not list", async ({ listen }) => {
        const peer = await listen(express().use("/list", serveIndex(root)));
        assert.equal((await peer.get("/list/none/")).status, 404);
        assert.equal((await peer.get("/list/", { accept: "image/png" })).status, 406);
        const post = await peer.request("POST", "/list/");
        assert.deepEqual([post.status, post.headers.allow], [405, "GET, HEAD, OPTIONS"]);
        assert.equal((await peer.request("OPTIONS", "/list/")).status, 200);
    });
});

middleware("serve-favicon", ({ express, it }) => {
    it("the icon from memory, its 304, and other methods", async ({ listen }) => {
        const app = express().use(favicon(join(root, "favicon.ico"))).use((request, response) => response.json("other"));
        const peer = await listen(app);
        const icon = await peer.get("/favicon.ico");
        assert.deepEqual([icon.headers["content-type"], digest(icon.bytes)], ["image/x-icon", digest(files["favicon.ico"])]);
        assert.equal((await peer.get("/favicon.ico", { "if-none-match": icon.headers.etag })).status, 304);
        assert.equal((await peer.request("POST", "/favicon.ico")).status, 405);
        assert.equal((await peer.request("HEAD", "/favicon.ico")).bytes.length, 0);
        assert.equal((await peer.get("/")).json, "other");
    });
});

middleware("express-static-gzip", ({ express, it }) => {
    it("the packed file beside the plain one", async ({ listen }) => {
        const peer = await listen(express().use(staticGzip(root, { enableBrotli: true, orderPreference: ["br"] })));
        const br = await peer.get("/app.js", { "accept-encoding": "gzip, br" });
        assert.deepEqual([br.headers["content-encoding"], String(brotliDecompressSync(br.bytes)), br.headers.vary], ["br", "const plain = true;", "Accept-Encoding"]);
        assert.match(br.headers["content-type"], /javascript/);
        const gzip = await peer.get("/app.js", { "accept-encoding": "gzip" });
        assert.deepEqual([gzip.headers["content-encoding"], String(gunzipSync(gzip.bytes))], ["gzip", "const plain = true;"]);
        const plain = await peer.get("/app.js");
        assert.deepEqual([plain.headers["content-encoding"], plain.text], [undefined, "const plain = true;"]);
        assert.equal((await peer.get("/")).text, files["index.html"]);
    });
});

middleware("sirv", ({ express, it }) => {
    it("files, packed ones, ranges, and what is not there", async ({ listen }) => {
        const peer = await listen(express().use("/dev", sirv(root, { dev: true, gzip: true })).use(sirv(root, { brotli: true, maxAge: 60, setHeaders: (response, path) => response.set("x-path", path) })).use((request, response) => response.status(404).json(request.url)));
        assert.deepEqual([(await peer.get("/")).text, (await peer.get("/page")).text, (await peer.get("/a%20b/%C3%BCber.txt")).text], [files["index.html"], files["page.html"], "in a folder"]);
        const br = await peer.get("/app.js", { "accept-encoding": "br" });
        assert.deepEqual([String(brotliDecompressSync(br.bytes)), br.headers["cache-control"], br.headers["x-path"]], ["const plain = true;", "public,max-age=60", "/app.js"]);
        assert.equal(String(gunzipSync((await peer.get("/dev/app.js", { "accept-encoding": "gzip" })).bytes)), "const plain = true;");
        const range = await peer.get("/large.bin", { range: "bytes=10-19" });
        assert.deepEqual([range.status, range.bytes.length], [206, 10]);
        assert.deepEqual((await peer.get("/none?q=1")).json, "/none?q=1");
    });
});

middleware("connect-history-api-fallback", ({ express, it }) => {
    it("pages of the client's router become the index, others do not", async ({ listen }) => {
        const app = express().use(history({ rewrites: [{ from: /^\/admin/, to: "/page.html" }] })).use(express.static(root)).use((request, response) => response.status(404).json(request.url));
        const peer = await listen(app);
        const html = { accept: "text/html" };
        assert.equal((await peer.get("/users/7?tab=1", html)).text, files["index.html"]);
        assert.equal((await peer.get("/admin/x", html)).text, files["page.html"]);
        assert.deepEqual([(await peer.get("/users/7", { accept: "application/json" })).json, (await peer.request("POST", "/users/7", { headers: html })).status, (await peer.get("/none.js", html)).json], ["/users/7", 404, "/none.js"]);
    });
});

middleware("compression", ({ express, it }) => {
    const gzip = { "accept-encoding": "gzip" };
    function app(options) {
        const made = express().use(compression(options));
        made.get("/json", (request, response) => response.json({ text: "x".repeat(5_000) }));
        made.get("/small", (request, response) => response.send("small"));
        made.get("/send", (request, response) => response.type("text").send("y".repeat(5_000)));
        made.get("/image", (request, response) => response.type("png").send(Buffer.alloc(5_000)));
        made.get("/own", (request, response) => response.set("cache-control", "no-transform").send("z".repeat(5_000)));
        made.get("/status", (request, response) => response.sendStatus(204));
        made.get("/write", (request, response) => {
            response.type("html");
            for (let at = 0; at < 10; at += 1) response.write("w".repeat(1_000));
            response.end("!");
        });
        made.get("/flush", (request, response) => {
            response.type("text").write("first");
            response.flush();
            response.end("last");
        });
        made.get("/stream", (request, response) => response.type("text").send(bytesOf(MIB)));
        made.use("/files", express.static(root));
        return made;
    }

    it("packs what is worth it", async ({ listen }) => {
        const peer = await listen(app());
        const json = await peer.get("/json", gzip);
        assert.deepEqual([json.headers["content-encoding"], json.headers.vary, JSON.parse(gunzipSync(json.bytes)).text.length], ["gzip", "Accept-Encoding", 5_000]);
        assert.equal((await peer.get("/json")).json.text.length, 5_000);
        for (const path of ["/small", "/image", "/own", "/status"]) assert.equal((await peer.get(path, gzip)).headers["content-encoding"], undefined, path);
        assert.equal(String(gunzipSync((await peer.get("/send", gzip)).bytes)), "y".repeat(5_000));
        assert.equal(String(brotliDecompressSync((await peer.get("/send", { "accept-encoding": "br" })).bytes)), "y".repeat(5_000));
        assert.equal((await peer.request("HEAD", "/json", { headers: gzip })).headers["content-encoding"], undefined);
    });

    it("streams, files, flush and 304", async ({ listen }) => {
        const peer = await listen(app());
        assert.equal(String(gunzipSync((await peer.get("/write", gzip)).bytes)), `${"w".repeat(10_000)}!`);
        assert.equal(String(gunzipSync((await peer.get("/flush", gzip)).bytes)), "firstlast");
        assert.equal(digest(gunzipSync((await peer.get("/stream", gzip)).bytes)), digest(bytesOf(MIB)));
        const page = await peer.get("/files/page.html", gzip);
        assert.equal(page.text, files["page.html"]);
        const { headers } = await peer.get("/json", gzip);
        assert.equal((await peer.get("/json", { ...gzip, "if-none-match": headers.etag })).status, 304);
    });

    it("a threshold and a filter of its own", async ({ listen }) => {
        const peer = await listen(app({ threshold: 0, filter: (request, response) => request.query.plain === undefined && compression.filter(request, response) }));
        assert.deepEqual([(await peer.get("/small", gzip)).headers["content-encoding"], (await peer.get("/small?plain", gzip)).headers["content-encoding"]], ["gzip", undefined]);
        assert.equal(digest(gunzipSync((await peer.request("GET", "/stream", { headers: gzip })).bytes)), digest(bytesOf(MIB)));
    });

    it("an upload answered by a packed echo", async ({ listen }) => {
        const echo = express().use(compression({ threshold: 0 })).post("/", (request, response) => request.pipe(response.type("text")));
        const peer = await listen(echo);
        const reply = await peer.request("POST", "/", { headers: gzip, body: pieces(bytesOf(300_000), 30_000) });
        assert.equal(digest(gunzipSync(reply.bytes)), digest(bytesOf(300_000)));
    });
});
