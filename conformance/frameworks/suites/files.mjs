// What serves files: send, serve-static and sirv, whole, in ranges, and under conditions.
import assert from "node:assert/strict";
import { once } from "node:events";
import send from "send";
import serveStatic from "serve-static";
import sirv from "sirv";
import { digest } from "../bytes.mjs";
import { deferred } from "../deferred.mjs";
import { files, folder } from "../fixtures.mjs";
import { suite } from "../suite.mjs";

const LARGE = files["large.bin"];

const SERVERS = {
    send: () => (request, response, next) => send(request, request.url, { root: folder }).on("error", next).pipe(response),
    "serve-static": () => serveStatic(folder),
    sirv: () => sirv(folder, { dev: false, etag: true }),
};

for (const [title, make] of Object.entries(SERVERS)) {
    suite(title, ({ http, it }) => {
        const server = () => {
            const serve = make();
            return http.createServer((request, response) => serve(request, response, (error) => {
                response.statusCode = error?.status ?? 404;
                response.end(error ? error.message : "not found");
            }));
        };

        it("whole files, HEAD, an empty file, and what is not there", async ({ listen }) => {
            const peer = await listen(server());
            const large = await peer.get("/large.bin");
            assert.deepEqual([large.headers["content-length"], digest(large.bytes)], [String(LARGE.length), digest(LARGE)]);
            assert.equal((await peer.get("/index.html")).text, files["index.html"].toString());
            assert.match((await peer.get("/index.html")).headers["content-type"], /^text\/html/);
            const head = await peer.request("HEAD", "/large.bin");
            assert.deepEqual([head.headers["content-length"], head.bytes.length], [String(LARGE.length), 0]);
            const empty = await peer.get("/empty.txt");
            assert.deepEqual([empty.status, empty.headers["content-length"], empty.text], [200, "0", ""]);
            assert.equal((await peer.get("/none")).status, 404);
            assert.ok([403, 404].includes((await peer.get("/../../etc/passwd")).status));
            assert.equal(peer.sockets.size, 1);
        });

        it("ranges", async ({ listen }) => {
            const peer = await listen(server());
            for (const [range, from, to] of [["bytes=0-1", 0, 1], ["bytes=65535-65536", 65_535, 65_536], ["bytes=1000-2000000", 1000, 2_000_000], ["bytes=3000000-", 3_000_000, LARGE.length - 1]]) {
                const part = await peer.get("/large.bin", { range });
                assert.deepEqual([part.status, part.headers["content-range"], digest(part.bytes)], [206, `bytes ${from}-${to}/${LARGE.length}`, digest(LARGE.subarray(from, to + 1))]);
            }
            const beyond = await peer.get("/large.bin", { range: "bytes=99999999-" });
            assert.deepEqual([beyond.status, beyond.headers["content-range"]], [416, `bytes */${LARGE.length}`]);
        });

        it("conditions", async ({ listen }) => {
            const peer = await listen(server());
            const { etag } = (await peer.get("/index.html")).headers;
            assert.deepEqual([(await peer.get("/index.html", { "if-none-match": etag })).status, (await peer.get("/index.html", { "if-none-match": '"other"' })).status], [304, 200]);
        });

        it("a client that leaves in the middle of a file, and the next one", async ({ listen }) => {
            const closed = deferred();
            const serving = server();
            serving.on("request", (request, response) => response.on("close", () => closed.resolve(response.writableFinished)));
            const peer = await listen(serving);
            const request = peer.open("GET", "/large.bin");
            request.end();
            const [response] = await once(request, "response");
            response.on("error", () => {});
            await once(response, "data");
            response.pause();
            request.destroy();
            await closed.promise;
            assert.equal(digest((await peer.get("/large.bin")).bytes), digest(LARGE));
        });
    });
}
