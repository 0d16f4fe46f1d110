// What reads bodies.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { MIB, bytesOf, digest, multipart, pieces } from "../../frameworks/bytes.mjs";
import { major, use } from "../subjects.mjs";
import { middleware } from "../suite.mjs";

const bodyParser = await use("body-parser");
const multer = await use("multer");
const fileUpload = await use("express-fileupload");
const { default: formidable } = await use("formidable", { all: true });
const multiparty = await use("multiparty");
const busboy = await use("connect-busboy");
const methodOverride = await use("method-override");
const hpp = await use("hpp");

const JSON_TYPE = { "content-type": "application/json" };
const FORM = { "content-type": "application/x-www-form-urlencoded" };

/** Answers with the error instead of a page with its stack. */
function showError(error, request, response, next) {
    if (response.headersSent) return next(error);
    response.status(error.status ?? error.statusCode ?? 500).json({ name: error.name, message: error.message, type: error.type, code: error.code, expected: error.expected, length: error.length, limit: error.limit });
}

middleware("body-parser", ({ express, it }) => {
    const app = (parser) => express().use(parser).post("/", (request, response) => response.json({ body: request.body ?? null, bytes: Buffer.isBuffer(request.body) ? request.body.length : undefined, read: request._body })).use(showError);

    it("JSON: objects, strict, charset, what is no JSON", async ({ listen }) => {
        const peer = await listen(app(bodyParser.json()));
        assert.deepEqual((await peer.json("POST", "/", { a: ["ü", null] })).json.body, { a: ["ü", null] });
        assert.deepEqual((await peer.request("POST", "/", { headers: { "content-type": "application/json; charset=utf-16" }, body: Buffer.from('{"a":1}', "utf16le") })).json.body, { a: 1 });
        const cut = await peer.request("POST", "/", { headers: JSON_TYPE, body: '{"a":' });
        assert.deepEqual([cut.status, cut.json.type], [400, "entity.parse.failed"]);
        assert.equal((await peer.request("POST", "/", { headers: JSON_TYPE, body: '"text"' })).status, 400);
        assert.equal((await peer.request("POST", "/", { headers: { "content-type": "application/json; charset=koi8-r" }, body: "{}" })).status, 415);
        assert.equal((await peer.request("POST", "/", { headers: { "content-type": "text/plain" }, body: "{}" })).status, 200);
    });

    it("limits, known and unknown length", async ({ listen }) => {
        const peer = await listen(app(bodyParser.json({ limit: "1kb" })));
        const large = JSON.stringify({ text: "x".repeat(4_000) });
        assert.deepEqual([(await peer.request("POST", "/", { headers: JSON_TYPE, body: large })).status, (await peer.request("POST", "/", { headers: JSON_TYPE, body: pieces(Buffer.from(large), 500) })).status], [413, 413]);
    });

    it("gzip, and encodings that are unknown or not allowed", async ({ listen }) => {
        const packed = gzipSync('{"packed":true}');
        const peer = await listen(app(bodyParser.json()));
        assert.deepEqual((await peer.request("POST", "/", { headers: { ...JSON_TYPE, "content-encoding": "gzip" }, body: packed })).json.body, { packed: true });
        assert.equal((await peer.request("POST", "/", { headers: { ...JSON_TYPE, "content-encoding": "gzip" }, body: "no gzip" })).status, 400);
        assert.equal((await peer.request("POST", "/", { headers: { ...JSON_TYPE, "content-encoding": "secret" }, body: "{}" })).json.type, "encoding.unsupported");
        const strict = await listen(app(bodyParser.json({ inflate: false })));
        assert.equal((await strict.request("POST", "/", { headers: { ...JSON_TYPE, "content-encoding": "gzip" }, body: packed })).status, 415);
    });

    it("forms, text and bytes", async ({ listen }) => {
        const form = await listen(app(bodyParser.urlencoded({ extended: true, parameterLimit: 3 })));
        assert.deepEqual((await form.request("POST", "/", { headers: FORM, body: "a[b]=1&a[c]=%C3%BC&d=x+y" })).json.body, { a: { b: "1", c: "ü" }, d: "x y" });
        assert.equal((await form.request("POST", "/", { headers: FORM, body: "a=1&b=2&c=3&d=4" })).json.type, "parameters.too.many");
        const simple = await listen(app(bodyParser.urlencoded({ extended: false })));
        assert.deepEqual((await simple.request("POST", "/", { headers: FORM, body: "a=1&a=2&b[c]=3" })).json.body, { a: ["1", "2"], "b[c]": "3" });
        const text = await listen(app(bodyParser.text({ type: "text/*" })));
        assert.equal((await text.request("POST", "/", { headers: { "content-type": "text/html; charset=latin1" }, body: Buffer.from("ü", "latin1") })).json.body, "ü");
        const raw = await listen(app(bodyParser.raw({ limit: "3mb" })));
        assert.equal((await raw.request("POST", "/", { headers: { "content-type": "application/octet-stream" }, body: bytesOf(100_000) })).json.bytes, 100_000);
    });

    it("verify, and a body that was read already", async ({ listen }) => {
        const seen = [];
        const verified = app([bodyParser.json({ verify: (request, response, bytes, encoding) => {
            seen.push([String(bytes), encoding]);
            if (bytes[0] === 0x5b) throw new Error("no lists");
        } }), bodyParser.json(), express.json()]);
        const peer = await listen(verified);
        assert.deepEqual((await peer.json("POST", "/", { a: 1 })).json.body, { a: 1 });
        const list = await peer.json("POST", "/", [1]);
        assert.deepEqual([list.status, list.json.type, list.json.message], [403, "entity.verify.failed", "no lists"]);
        assert.deepEqual(seen, [['{"a":1}', "utf-8"], ["[1]", "utf-8"]]);
    });

    it("no body", async ({ listen }) => {
        const peer = await listen(app([bodyParser.json(), bodyParser.urlencoded({ extended: false })]));
        assert.deepEqual((await peer.request("POST", "/", { headers: { ...JSON_TYPE, "content-length": "0" } })).json.body, {});
        assert.deepEqual((await peer.request("POST", "/", { headers: { "content-type": "text/plain" }, body: "text" })).json.body, major === 5 ? null : {});
    });
});

const PARTS = [
    { name: "title", value: "Grüße" },
    { name: "list", value: "1" },
    { name: "list", value: "2" },
    { name: "file", value: bytesOf(300_000), filename: "data.bin", type: "application/octet-stream" },
    { name: "note", value: "small", filename: "note.txt", type: "text/plain" },
];

middleware("multer", ({ express, it }) => {
    const send = (peer, path, parts) => {
        const { type, body } = multipart(parts);
        return peer.request("POST", path, { headers: { "content-type": type }, body: pieces(body, 40_000) });
    };
    const described = (files) => files.map(({ fieldname, originalname, mimetype, size, buffer }) => [fieldname, originalname, mimetype, size, buffer && digest(buffer)]);

    it("files in memory: single, array, fields, any", async ({ listen }) => {
        const upload = multer({ storage: multer.memoryStorage() });
        const app = express();
        app.post("/any", upload.any(), (request, response) => response.json({ body: request.body, files: described(request.files) }));
        app.post("/single", upload.single("file"), (request, response) => response.json({ body: request.body, file: described([request.file]) }));
        app.post("/fields", upload.fields([{ name: "file", maxCount: 1 }, { name: "note" }]), (request, response) => response.json(Object.keys(request.files)));
        app.post("/none", upload.none(), (request, response) => response.json(request.body));
        app.use(showError);
        const peer = await listen(app);
        const any = await send(peer, "/any", PARTS);
        assert.deepEqual(any.json.body, { title: "Grüße", list: ["1", "2"] });
        assert.deepEqual(any.json.files[0], ["file", "data.bin", "application/octet-stream", 300_000, digest(bytesOf(300_000))]);
        assert.equal((await send(peer, "/single", PARTS.slice(0, 4))).json.file[0][3], 300_000);
        assert.deepEqual((await send(peer, "/fields", PARTS)).json, ["file", "note"]);
        assert.deepEqual((await send(peer, "/none", PARTS.slice(0, 2))).json, { title: "Grüße", list: "1" });
        const unexpected = await send(peer, "/single", PARTS);
        assert.deepEqual([unexpected.status, unexpected.json.code], [500, "LIMIT_UNEXPECTED_FILE"]);
    });

    it("files on disk, limits and a filter", async ({ listen, after }) => {
        const dest = mkdtempSync(join(tmpdir(), "leat-multer-"));
        after(() => rmSync(dest, { recursive: true }));
        const upload = multer({ dest, limits: { fileSize: MIB }, fileFilter: (request, file, done) => done(null, file.originalname !== "note.txt") });
        const app = express().post("/", upload.any(), (request, response) => response.json(request.files.map(({ originalname, size }) => [originalname, size]))).use(showError);
        const peer = await listen(app);
        assert.deepEqual((await send(peer, "/", PARTS)).json, [["data.bin", 300_000]]);
        assert.equal(readdirSync(dest).length, 1);
        const large = await send(peer, "/", [{ ...PARTS[3], value: bytesOf(2 * MIB) }]);
        assert.equal(large.json.code, "LIMIT_FILE_SIZE");
    });

    it("a body that is cut", async ({ listen }) => {
        const app = express().post("/", multer({ storage: multer.memoryStorage() }).any(), (request, response) => response.json({ files: request.files.length })).use(showError);
        const peer = await listen(app);
        const { type, body } = multipart(PARTS);
        const cut = await peer.request("POST", "/", { headers: { "content-type": type }, body: body.subarray(0, 1_000) });
        assert.deepEqual([cut.status, cut.json.message], [500, "Unexpected end of form"]);
    });
});

middleware("express-fileupload", ({ express, it }) => {
    const send = (peer, path, parts) => {
        const { type, body } = multipart(parts);
        return peer.request("POST", path, { headers: { "content-type": type }, body: pieces(body, 40_000) });
    };

    it("files and fields, moved to a place", async ({ listen, after }) => {
        const dest = mkdtempSync(join(tmpdir(), "leat-fileupload-"));
        after(() => rmSync(dest, { recursive: true }));
        const app = express().use(fileUpload());
        app.post("/", async (request, response) => {
            const { file, note } = request.files;
            await file.mv(join(dest, "moved.bin"));
            response.json({ body: request.body, file: [file.name, file.size, file.mimetype, file.md5], note: String(note.data) });
        });
        const peer = await listen(app);
        const { json } = await send(peer, "/", PARTS);
        assert.deepEqual([json.body, json.file.slice(0, 2), json.note], [{ title: "Grüße", list: ["1", "2"] }, ["data.bin", 300_000], "small"]);
        assert.deepEqual(readdirSync(dest), ["moved.bin"]);
    });

    it("too large, temporary files, and what is no upload", async ({ listen, after }) => {
        const tempFileDir = mkdtempSync(join(tmpdir(), "leat-fileupload-"));
        after(() => rmSync(tempFileDir, { recursive: true }));
        const app = express();
        app.post("/limited", fileUpload({ limits: { fileSize: 1_000 }, abortOnLimit: true }), (request, response) => response.json("through"));
        app.post("/temporary", fileUpload({ useTempFiles: true, tempFileDir }), (request, response) => response.json([request.files.file.size, request.files.file.tempFilePath.startsWith(tempFileDir)]));
        const peer = await listen(app);
        assert.equal((await send(peer, "/limited", PARTS)).status, 413);
        assert.deepEqual((await send(peer, "/temporary", PARTS)).json, [300_000, true]);
        assert.equal((await peer.json("POST", "/limited", {})).json, "through");
    });
});

for (const [name, parse] of [
    ["formidable", async (request) => {
        const [fields, files] = await formidable({}).parse(request);
        rmSync(files.file[0].filepath);
        rmSync(files.note[0].filepath);
        return { fields, files: [files.file[0], files.note[0]].map(({ originalFilename, size, mimetype }) => [originalFilename, size, mimetype]) };
    }],
    ["multiparty", (request) => new Promise((resolve, reject) => {
        new multiparty.Form().parse(request, (error, fields, files) => {
            if (error) return reject(error);
            for (const { path } of Object.values(files).flat()) rmSync(path);
            resolve({ fields, files: [files.file[0], files.note[0]].map((file) => [file.originalFilename, file.size, file.headers["content-type"]]) });
        });
    })],
]) {
    middleware(name, ({ express, it }) => {
        const app = () => express().post("/", (request, response, next) => parse(request).then((result) => response.json(result), next)).use(showError);

        it("fields and files", async ({ listen }) => {
            const peer = await listen(app());
            const { type, body } = multipart(PARTS);
            const { json } = await peer.request("POST", "/", { headers: { "content-type": type }, body: pieces(body, 40_000) });
            assert.deepEqual(json.fields, { title: ["Grüße"], list: ["1", "2"] });
            assert.deepEqual(json.files, [["data.bin", 300_000, "application/octet-stream"], ["note.txt", 5, "text/plain"]]);
        });

        it("what is no form", async ({ listen }) => {
            const peer = await listen(app());
            const reply = await peer.request("POST", "/", { headers: { "content-type": "multipart/form-data" }, body: "none" });
            assert.ok(reply.status >= 400, String(reply.status));
        });
    });
}

middleware("connect-busboy", ({ express, it }) => {
    it("request.busboy streams the parts", async ({ listen }) => {
        const app = express().use(busboy({ immediate: false }));
        app.post("/", (request, response) => {
            const parts = [];
            request.busboy.on("field", (name, value) => parts.push([name, value]));
            request.busboy.on("file", (name, stream, { filename }) => {
                let size = 0;
                stream.on("data", (chunk) => (size += chunk.length)).on("end", () => parts.push([name, filename, size]));
            });
            request.busboy.on("close", () => response.json(parts));
            request.pipe(request.busboy);
        });
        app.get("/", (request, response) => response.json(request.busboy === undefined));
        const peer = await listen(app);
        const { type, body } = multipart(PARTS);
        const { json } = await peer.request("POST", "/", { headers: { "content-type": type }, body });
        assert.deepEqual(json.sort(), [["file", "data.bin", 300_000], ["list", "1"], ["list", "2"], ["note", "note.txt", 5], ["title", "Grüße"]]);
        assert.equal((await peer.get("/")).json, true);
    });
});

middleware("method-override", ({ express, it }) => {
    it("by header, query and function: the route of the other method answers", async ({ listen }) => {
        const app = express();
        app.use(methodOverride("X-HTTP-Method-Override"), methodOverride("_method"), express.urlencoded({ extended: false }), methodOverride((request) => request.body?.verb));
        for (const method of ["put", "delete", "patch", "post"]) app[method]("/item", (request, response) => response.json([method, request.method, request.originalMethod]));
        const peer = await listen(app);
        assert.deepEqual((await peer.request("POST", "/item", { headers: { "x-http-method-override": "PUT" } })).json, ["put", "PUT", "POST"]);
        assert.deepEqual((await peer.request("POST", "/item?_method=delete")).json, ["delete", "DELETE", "POST"]);
        assert.deepEqual((await peer.request("POST", "/item", { headers: FORM, body: "verb=PATCH" })).json, ["patch", "PATCH", "POST"]);
        assert.deepEqual((await peer.request("POST", "/item?_method=NONE")).json, ["post", "POST", "POST"]);
        const plain = await peer.request("POST", "/item");
        assert.match(plain.headers.vary, /X-HTTP-Method-Override/);
    });
});

// Express 5's request.query is a getter, which hpp cannot change.
middleware("hpp", ({ express, it }) => {
    it("the last of repeated body parameters stays, the others move", async ({ listen }) => {
        const app = express().use(express.urlencoded({ extended: true }), hpp({ whitelist: ["tags"] }));
        app.post("/", (request, response) => response.json({ body: request.body, polluted: request.bodyPolluted, query: request.query, queryPolluted: request.queryPolluted }));
        const peer = await listen(app);
        const { json } = await peer.request("POST", "/?q=1&q=2", { headers: FORM, body: "a=1&a=2&tags=x&tags=y&b=3" });
        assert.deepEqual([json.body, json.polluted], [{ a: "2", tags: ["x", "y"], b: "3" }, { a: ["1", "2"] }]);
        assert.deepEqual([json.query, json.queryPolluted], [{ q: major === 5 ? ["1", "2"] : "2" }, { q: ["1", "2"] }]);
    });

    it("nothing to do", async ({ listen }) => {
        const app = express().use(express.urlencoded({ extended: true }), hpp()).get("/", (request, response) => response.json(request.query));
        assert.deepEqual((await (await listen(app)).get("/?a=1&b=2")).json, { a: "1", b: "2" });
    });
});
