// How often, how long, and once instead of again.
import assert from "node:assert/strict";
import { use } from "../subjects.mjs";
import { middleware } from "../suite.mjs";

const { rateLimit } = await use("express-rate-limit", { all: true });
const { slowDown } = await use("express-slow-down", { all: true });
const timeout = await use("connect-timeout");
const apicache = await use("apicache");

middleware("express-rate-limit", ({ express, it }) => {
    it("refuses beyond the limit, with the standard's fields", async ({ listen }) => {
        const app = express().use(rateLimit({ windowMs: 600_000, limit: 2, standardHeaders: "draft-6", legacyHeaders: true })).get("/", (request, response) => response.json(request.rateLimit.remaining));
        const peer = await listen(app);
        const replies = [await peer.get("/"), await peer.get("/"), await peer.get("/")];
        assert.deepEqual(replies.map(({ status, headers }) => [status, headers["ratelimit-limit"], headers["ratelimit-remaining"], headers["x-ratelimit-remaining"]]), [[200, "2", "1", "1"], [200, "2", "0", "0"], [429, "2", "0", "0"]]);
        assert.equal(replies[2].text, "Too many requests, please try again later.");
        assert.ok(Number(replies[2].headers["retry-after"]) > 500);
    });

    it("keys and skips of the app's own, clients behind a proxy", async ({ listen }) => {
        const app = express().set("trust proxy", 1);
        app.use("/by-key", rateLimit({ limit: 1, keyGenerator: (request) => request.get("x-key"), handler: (request, response, next, options) => response.status(options.statusCode).json({ limited: request.rateLimit.key }) }));
        app.use("/by-ip", rateLimit({ limit: 1, skip: (request) => request.query.free !== undefined, skipFailedRequests: false }));
        app.use((request, response) => response.json(request.ip));
        const peer = await listen(app);
        const byKey = async (key) => (await peer.get("/by-key", { "x-key": key })).json;
        assert.deepEqual([await byKey("a"), await byKey("b"), await byKey("a")], ["127.0.0.1", "127.0.0.1", { limited: "a" }]);
        const byIp = async (ip, query = "") => (await peer.get(`/by-ip${query}`, { "x-forwarded-for": ip })).status;
        assert.deepEqual([await byIp("10.0.0.1"), await byIp("10.0.0.2"), await byIp("10.0.0.1"), await byIp("10.0.0.1", "?free")], [200, 200, 429, 200]);
    });

    it("failed requests that do not count", async ({ listen }) => {
        const app = express().use(rateLimit({ limit: 1, skipFailedRequests: true, legacyHeaders: false }));
        app.get("/fails", (request, response) => response.sendStatus(500));
        app.get("/", (request, response) => response.json("ok"));
        const peer = await listen(app);
        const statuses = [];
        for (const path of ["/fails", "/", "/"]) {
            const { status } = await peer.get(path);
            statuses.push(status);
        }
        assert.deepEqual(statuses, [500, 200, 429]);
    });
});

middleware("express-slow-down", ({ express, it }) => {
    it("delays from the second request on", async ({ listen }) => {
        const app = express().use(slowDown({ windowMs: 600_000, delayAfter: 1, delayMs: (hits) => hits * 20 })).get("/", (request, response) => response.json([request.slowDown.used, request.slowDown.delay]));
        const peer = await listen(app);
        assert.deepEqual([(await peer.get("/")).json, (await peer.get("/")).json, (await peer.get("/")).json], [[1, 0], [2, 40], [3, 60]]);
    });
});

middleware("connect-timeout", ({ express, it }) => {
    it("an error for what takes too long, not for the rest", async ({ listen }) => {
        const app = express().use(timeout(50));
        app.get("/hangs", () => {});
        app.get("/cleared", (request, response) => {
            request.clearTimeout();
            setTimeout(() => response.json([request.timedout]), 120);
        });
        app.get("/", (request, response) => response.json(request.timedout));
        app.use((error, request, response, next) => response.status(error.status).json([error.code, error.timeout, request.timedout]));
        const peer = await listen(app);
        const hung = await peer.get("/hangs");
        assert.deepEqual([hung.status, hung.json], [503, ["ETIMEDOUT", 50, true]]);
        assert.deepEqual((await peer.get("/cleared")).json, [false]);
        assert.deepEqual((await peer.get("/")).json, false);
    });

    it("respond: false only tells", async ({ listen }) => {
        const app = express().get("/", timeout("40ms", { respond: false }), (request, response) => request.once("timeout", (ms) => response.json([ms, request.timedout])));
        assert.deepEqual((await (await listen(app)).get("/")).json, [40, true]);
    });
});

middleware("apicache", ({ express, it }) => {
    it("answers from its cache with the same head and body, until it is cleared", async ({ listen, after }) => {
        const cache = apicache.newInstance({ headers: { "cache-control": "no-cache" } });
        // Its timers hold the process; clearing everything at once forgets them.
        after(() => [...cache.getIndex().all].forEach((key) => cache.clear(key)));
        let count = 0;
        const app = express();
        app.get("/json", cache.middleware("5 minutes"), (request, response) => {
            request.apicacheGroup = "items";
            response.status(201).set("x-own", "1").json({ count: (count += 1) });
        });
        app.get("/stream", cache.middleware("5 minutes"), (request, response) => {
            response.type("text").write("a");
            response.end(`b${(count += 1)}`);
        });
        app.get("/clear", (request, response) => response.json(cache.clear("items").current?.length ?? null));
        const peer = await listen(app, { changing: ["etag"] });
        const [first, second] = [await peer.get("/json"), await peer.get("/json")];
        assert.deepEqual([first.status, first.json, second.status, second.json, second.headers["x-own"]], [201, { count: 1 }, 201, { count: 1 }, "1"]);
        assert.deepEqual([(await peer.get("/stream")).text, (await peer.get("/stream")).text], ["ab2", "ab2"]);
        assert.equal((await peer.get("/json", { "x-apicache-bypass": "1" })).json.count, 3);
        await peer.get("/clear");
        assert.equal((await peer.get("/json")).json.count, 4);
        assert.equal((await peer.get("/json", { "if-none-match": (await peer.get("/json")).headers.etag })).status, 304);
    });
});
