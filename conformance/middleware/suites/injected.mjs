// Requests that come from no socket: an app is called with messages that somebody else made.
import assert from "node:assert/strict";
import { once, EventEmitter } from "node:events";
import { use } from "../subjects.mjs";
import { middleware } from "../suite.mjs";

const serverless = await use("serverless-http");
const vendia = await use("@vendia/serverless-express");
const inject = await use("light-my-request");
const mocks = await use("node-mocks-http");

function app(express) {
    const made = express().set("env", "test").use(express.json());
    made.get("/items/:id", (request, response) => response.json({ id: request.params.id, query: request.query, ip: request.ip ?? null, host: request.hostname, protocol: request.protocol }));
    made.post("/items", (request, response) => response.status(201).cookie("a", "1").cookie("b", "2").json(request.body));
    made.get("/text", (request, response) => response.type("text").send("text"));
    made.get("/bytes", (request, response) => response.type("png").send(Buffer.from([1, 2, 3])));
    made.get("/stream", (request, response) => {
        response.type("text").write("one ");
        setImmediate(() => response.end("two"));
    });
    made.get("/moved", (request, response) => response.redirect("/text"));
    made.get("/fails", () => {
        throw new Error("on purpose");
    });
    return made.use((error, request, response, next) => response.status(500).json(error.message));
}

/** What API Gateway sends to a function, of its form 2. */
function event(method, path, { body, query = "" } = {}) {
    return {
        version: "2.0", routeKey: "$default", rawPath: path, rawQueryString: query, cookies: ["c=3"], isBase64Encoded: false, body,
        headers: { host: "api.example", ...(body ? { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) } : {}) },
        requestContext: { http: { method, path, sourceIp: "10.0.0.1", protocol: "HTTP/1.1" }, stage: "$default", domainName: "api.example" },
    };
}
const comparable = ({ statusCode, headers, multiValueHeaders, body, isBase64Encoded, cookies }) => ({ statusCode, headers: Object.entries(headers ?? multiValueHeaders).filter(([name]) => name.toLowerCase() !== "date").sort(), body, isBase64Encoded, cookies });

for (const [name, handlerOf] of [
    ["serverless-http", (made) => serverless(made, { binary: ["image/*"] })],
    ["@vendia/serverless-express", (made) => vendia({ app: made })],
]) {
    middleware(name, ({ express, it }) => {
        it("events become requests, replies become results", async ({ note }) => {
            const handler = handlerOf(app(express));
            const call = async (...args) => {
                const result = await handler(event(...args), {});
                note(comparable(result));
                return result;
            };
            const item = await call("GET", "/items/7", { query: "q=1" });
            assert.deepEqual([item.statusCode, JSON.parse(item.body).id, JSON.parse(item.body).query, JSON.parse(item.body).host], [200, "7", { q: "1" }, "api.example"]);
            const created = await call("POST", "/items", { body: '{"a":"ü"}' });
            assert.deepEqual([created.statusCode, JSON.parse(created.body)], [201, { a: "ü" }]);
            const bytes = await call("GET", "/bytes");
            assert.deepEqual([bytes.isBase64Encoded, bytes.body], [true, "AQID"]);
            assert.deepEqual([(await call("GET", "/stream")).body, (await call("GET", "/moved")).statusCode, (await call("GET", "/fails")).body, (await call("GET", "/none")).statusCode], ["one two", 302, '"on purpose"', 404]);
        });

        it("many at once", async () => {
            const handler = handlerOf(app(express));
            const results = await Promise.all(Array.from({ length: 20 }, (_, at) => handler(event("GET", `/items/${at}`), {})));
            assert.deepEqual(results.map(({ body }) => JSON.parse(body).id), Array.from({ length: 20 }, (_, at) => String(at)));
        });
    });
}

middleware("light-my-request", ({ express, it }) => {
    it("requests and replies in memory", async ({ note }) => {
        const made = app(express);
        const seen = [];
        for (const request of ["/items/7?q=1", { method: "POST", url: "/items", payload: { a: 1 } }, "/text", "/bytes", "/stream", "/moved", "/fails", "/none", { method: "HEAD", url: "/text" }]) {
            const { statusCode, headers, payload, cookies } = await inject(made, request);
            seen.push({ statusCode, headers: Object.entries(headers).filter(([name]) => name !== "date").sort(), payload, cookies });
        }
        assert.deepEqual(seen.map(({ statusCode }) => statusCode), [200, 201, 200, 200, 200, 302, 500, 404, 200]);
        assert.deepEqual([JSON.parse(seen[0].payload).id, seen[1].payload, seen[4].payload], ["7", '{"a":1}', "one two"]);
        assert.deepEqual(seen[1].cookies.map(({ name }) => name), ["a", "b"]);
        note(seen);
    });
});

middleware("node-mocks-http", ({ express, it }) => {
    it("a handler and a router with its mocks", async ({ note }) => {
        const handler = (request, response) => response.status(201).set("x-own", "1").json({ id: request.params.id, type: request.get("content-type"), body: request.body });
        const request = mocks.createRequest({ method: "POST", url: "/items/7", params: { id: "7" }, headers: { "content-type": "application/json" }, body: { a: 1 } });
        const response = mocks.createResponse();
        handler(request, response);
        assert.deepEqual([response.statusCode, response._getJSONData(), response.getHeader("x-own")], [201, { id: "7", type: "application/json", body: { a: 1 } }, "1"]);

        const router = express.Router();
        router.use((req, res, next) => {
            req.marked = true;
            next();
        });
        router.get("/items/:id", (req, res) => res.json([req.params.id, req.marked, req.query, req.baseUrl]));
        const through = mocks.createResponse({ eventEmitter: EventEmitter });
        const ended = once(through, "end");
        router.handle(mocks.createRequest({ method: "GET", url: "/items/8?q=1" }), through, assert.ifError);
        await ended;
        note(through._getJSONData());
        assert.deepEqual(through._getJSONData().slice(0, 2), ["8", true]);
        const missed = await new Promise((resolve) => router.handle(mocks.createRequest({ method: "GET", url: "/none" }), mocks.createResponse(), (error) => resolve(error ?? "none")));
        assert.equal(missed, "none");
    });
});
