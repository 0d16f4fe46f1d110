// What reads request bodies: raw-body, body-parser, busboy, multer.
import assert from "node:assert/strict";
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import bodyParser from "body-parser";
import busboy from "busboy";
import express from "express";
import multer from "multer";
import rawBody from "raw-body";
import { MIB, bytesOf, digest, multipart, pieces } from "../bytes.mjs";
import { deferred } from "../deferred.mjs";
import { suite } from "../suite.mjs";

suite("raw-body", ({ http, it }) => {
    const server = (options, seen = () => {}) => http.createServer((request, response) => {
        rawBody(request, { length: request.headers["content-length"], ...options }).then((body) => response.end(String(body.length)), (error) => {
            seen(error);
            response.statusCode = error.status ?? 500;
            response.end(error.type);
        });
    });

    it("bodies with a length, in chunks, and empty ones", async ({ listen }) => {
        const peer = await listen(server({}));
        assert.equal((await peer.request("POST", "/", { body: bytesOf(5 * MIB) })).text, String(5 * MIB));
        assert.equal((await peer.request("POST", "/", { body: pieces(bytesOf(5 * MIB), 10_000) })).text, String(5 * MIB));
        assert.equal((await peer.request("POST", "/", { body: "" })).text, "0");
        assert.equal((await peer.get("/")).text, "0");
        assert.equal(peer.sockets.size, 1);
    });

    it("limits by length and by what comes", async ({ listen }) => {
        const peer = await listen(server({ limit: 1000 }));
        const tooLong = await peer.request("POST", "/", { body: "x".repeat(1001) });
        assert.deepEqual([tooLong.status, tooLong.text], [413, "entity.too.large"]);
        const chunked = await peer.request("POST", "/", { body: pieces(bytesOf(3 * MIB), 500) });
        assert.deepEqual([chunked.status, chunked.text], [413, "entity.too.large"]);
        // raw-body leaves the rest of the body unread, so that connection can carry no further request.
        peer.close();
        assert.equal((await peer.request("POST", "/", { body: "x".repeat(1000) })).text, "1000");
    });

    it("a decoded body, and a client that leaves half-way", async ({ listen }) => {
        const failed = deferred();
        const peer = await listen(server({ encoding: "utf8" }, failed.resolve));
        assert.equal((await peer.request("POST", "/", { body: "äöü" })).text, "3");
        const request = peer.open("POST", "/", { "content-length": "100" });
        request.on("error", () => {});
        request.write("half");
        await once(request, "socket");
        await new Promise((resolve) => request.write("more", resolve));
        request.destroy();
        const error = await failed.promise;
        assert.deepEqual([error.type, error.code, error.expected], ["request.aborted", "ECONNABORTED", 100]);
    });
});

suite("body-parser", ({ http, it }) => {
    it("JSON, text, raw, forms, pressed bodies and refusals", async ({ listen }) => {
        const layers = [bodyParser.json({ limit: 1000, strict: true }), bodyParser.text(), bodyParser.raw({ type: "application/x-raw", limit: "10mb" }), bodyParser.urlencoded({ extended: false })];
        const peer = await listen(http.createServer((request, response) => {
            let at = 0;
            const next = (error) => {
                if (error) {
                    response.statusCode = error.status;
                    return response.end(error.type);
                }
                const layer = layers[at];
                at += 1;
                if (layer) return layer(request, response, next);
                response.end(Buffer.isBuffer(request.body) ? digest(request.body) : JSON.stringify(request.body));
            };
            next();
        }));
        const post = (type, body, headers) => peer.request("POST", "/", { headers: { "content-type": type, ...headers }, body });
        assert.deepEqual((await post("application/json; charset=utf-8", '{"a":"ü"}')).json, { a: "ü" });
        assert.deepEqual((await post("application/json", gzipSync('{"pressed":true}'), { "content-encoding": "gzip" })).json, { pressed: true });
        assert.deepEqual((await post("text/plain", "text")).json, "text");
        const large = bytesOf(9 * MIB);
        assert.equal((await post("application/x-raw", large)).text, digest(large));
        assert.deepEqual((await post("application/x-www-form-urlencoded", "a=1&a=2")).json, { a: ["1", "2"] });
        for (const [body, status, type, headers] of [
            ['{"cut', 400, "entity.parse.failed"],
            ['"not strict"', 400, "entity.parse.failed"],
            [JSON.stringify("x".repeat(2000)), 413, "entity.too.large"],
            ["{}", 415, "encoding.unsupported", { "content-encoding": "x-none" }],
        ]) {
            const refused = await post("application/json", body, headers);
            assert.deepEqual([refused.status, refused.text], [status, type]);
        }
        assert.equal((await post("application/json; charset=x-none", "{}")).status, 415);
        assert.equal((await peer.get("/")).status, 200);
    });
});

const FILE = bytesOf(6 * MIB);
const FORM = multipart([
    { name: "title", value: "Über" },
    { name: "one", value: FILE, filename: "one.bin", type: "application/octet-stream" },
    { name: "two", value: "tiny", filename: "two.txt", type: "text/plain" },
]);

suite("busboy", ({ http, it }) => {
    it("fields and files of several MiB, sent whole and in small pieces", async ({ listen }) => {
        const peer = await listen(http.createServer((request, response) => {
            const seen = {};
            const parser = busboy({ headers: request.headers });
            parser.on("field", (name, value) => (seen[name] = value));
            parser.on("file", (name, stream, { filename, mimeType }) => {
                const chunks = [];
                stream.on("data", (chunk) => chunks.push(chunk)).on("end", () => (seen[name] = [filename, mimeType, digest(Buffer.concat(chunks))]));
            });
            parser.on("close", () => response.end(JSON.stringify(seen)));
            request.pipe(parser);
        }));
        const expected = { title: "Über", one: ["one.bin", "application/octet-stream", digest(FILE)], two: ["two.txt", "text/plain", digest("tiny")] };
        assert.deepEqual((await peer.request("POST", "/", { headers: { "content-type": FORM.type }, body: FORM.body })).json, expected);
        assert.deepEqual((await peer.request("POST", "/", { headers: { "content-type": FORM.type }, body: pieces(FORM.body, 7001) })).json, expected);
    });

    it("an upload that breaks off", async ({ listen }) => {
        const ended = deferred();
        const peer = await listen(http.createServer((request) => {
            const parser = busboy({ headers: request.headers });
            parser.on("file", (name, stream) => stream.resume().on("error", () => {}));
            parser.on("error", (error) => ended.resolve(error.message));
            request.on("aborted", () => parser.destroy(new Error("aborted")));
            request.pipe(parser);
        }));
        const request = peer.open("POST", "/", { "content-type": FORM.type, "content-length": FORM.body.length });
        request.on("error", () => {});
        await new Promise((resolve) => request.write(FORM.body.subarray(0, 100_000), resolve));
        request.destroy();
        assert.equal(await ended.promise, "aborted");
    });
});

suite("multer", ({ http, it }) => {
    it("files in memory, limits, and the connection afterwards", async ({ listen }) => {
        const app = express();
        app.post("/", multer({ limits: { fileSize: 8 * MIB } }).any(), (request, response) => response.json({ ...request.body, files: request.files.map(({ fieldname, size, buffer }) => [fieldname, size, digest(buffer)]) }));
        app.post("/small", multer({ limits: { fileSize: 1000 } }).any(), (request, response) => response.send("unreached"));
        app.use((error, request, response, next) => response.status(413).json({ code: error.code, field: error.field }));
        const peer = await listen(http.createServer(app));
        const headers = { "content-type": FORM.type };
        const expected = { title: "Über", files: [["one", FILE.length, digest(FILE)], ["two", 4, digest("tiny")]] };
        assert.deepEqual((await peer.request("POST", "/", { headers, body: FORM.body })).json, expected);
        assert.deepEqual((await peer.request("POST", "/small", { headers, body: FORM.body })).json, { code: "LIMIT_FILE_SIZE", field: "one" });
        assert.deepEqual((await peer.request("POST", "/", { headers, body: pieces(FORM.body, 65_536) })).json, expected);
    });
});
