// What writes about requests: lines, metrics, pages for errors.
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { Writable } from "node:stream";
import { use } from "../subjects.mjs";
import { middleware } from "../suite.mjs";

const morgan = await use("morgan");
const pinoHttp = await use("pino-http");
const expressWinston = await use("express-winston");
const winston = await use("winston");
const promBundle = await use("express-prom-bundle");
const { Registry } = await use("prom-client", { all: true });
const errorhandler = await use("errorhandler");

/** A log that one can wait for. */
function lines() {
    const kept = [];
    const arrived = new EventEmitter();
    const stream = new Writable({
        write(chunk, encoding, done) {
            kept.push(...String(chunk).split("\n").filter((line) => line !== ""));
            arrived.emit("lines");
            done();
        },
    });
    const next = async (count) => {
        while (kept.length < count) await once(arrived, "lines");
        return kept.splice(0, count);
    };
    return { stream, next };
}

middleware("morgan", ({ express, it }) => {
    it("a line for each reply, with what Express added to the request", async ({ listen, note }) => {
        const log = lines();
        morgan.token("route", (request) => request.route?.path ?? "none");
        const app = express().use(morgan(":method :url :status :res[content-length] :route :remote-addr HTTP/:http-version :req[x-a]", { stream: log.stream }));
        app.use("/api", express.Router().get("/items/:id", (request, response) => response.json({ id: request.params.id })));
        app.get("/moved", (request, response) => response.redirect("/"));
        const peer = await listen(app);
        await peer.get("/api/items/7?q=1", { "x-a": "b" });
        const [item] = await log.next(1);
        assert.equal(item, "GET /api/items/7?q=1 200 10 /items/:id 127.0.0.1 HTTP/1.1 b");
        await peer.get("/none");
        await peer.get("/moved");
        const rest = await log.next(2);
        assert.deepEqual(rest.map((line) => line.split(" ").slice(1, 3)), [["/none", "404"], ["/moved", "302"]]);
        note([item, ...rest]);
    });

    it("common format, skip, immediate, and the time a reply took", async ({ listen }) => {
        const log = lines();
        const app = express().use(morgan("common", { stream: log.stream, skip: (request, response) => response.statusCode < 400 }), morgan(":url :status", { stream: log.stream, immediate: true }), morgan(":response-time :total-time", { stream: log.stream }));
        app.get("/", (request, response) => setImmediate(() => response.send("ok")));
        const peer = await listen(app);
        await peer.get("/");
        const [immediate, times] = await log.next(2);
        assert.equal(immediate, "/ -");
        assert.match(times, /^\d+\.\d{3} \d+\.\d{3}$/);
        await peer.get("/none", { authorization: `Basic ${Buffer.from("ann:x").toString("base64")}` });
        assert.ok((await log.next(3)).some((line) => /^(::ffff:)?127\.0\.0\.1 - ann \[[^\]]+\] "GET \/none HTTP\/1\.1" 404 \d+$/.test(line)));
    });
});

middleware("pino-http", ({ express, it }) => {
    it("request.log, request.id and a record for each reply", async ({ listen, note }) => {
        const log = lines();
        let count = 0;
        const app = express().use(pinoHttp({ genReqId: () => (count += 1), customLogLevel: (request, response, error) => (error || response.statusCode >= 500 ? "error" : "info"), base: null, timestamp: false }, log.stream));
        app.get("/items/:id", (request, response) => {
            request.log.info({ item: request.params.id }, "inside");
            response.json({ id: request.id });
        });
        app.get("/fails", () => {
            throw new Error("on purpose");
        });
        app.use((error, request, response, next) => {
            response.err = error;
            response.status(503).json(error.message);
        });
        const peer = await listen(app);
        assert.deepEqual((await peer.get("/items/7?q=1")).json, { id: 1 });
        const [inside, done] = (await log.next(2)).map((line) => JSON.parse(line));
        assert.deepEqual([inside.item, inside.msg, inside.req.id, done.res.statusCode, done.req.url, done.req.params ?? {}, done.req.query, done.msg], ["7", "inside", 1, 200, "/items/7?q=1", done.req.params ?? {}, { q: "1" }, "request completed"]);
        note([done.req.method, done.req.url, done.req.query, done.req.params, Object.keys(done.res.headers).sort()]);
        await peer.get("/fails");
        const [failed] = (await log.next(1)).map((line) => JSON.parse(line));
        assert.deepEqual([failed.level, failed.err.message, failed.res.statusCode], [50, "on purpose", 503]);
    });
});

middleware("express-winston", ({ express, it }) => {
    it("requests and errors, with the route", async ({ listen, note }) => {
        const records = [];
        const sink = () => new winston.transports.Stream({ stream: new Writable({ objectMode: true, write: (record, encoding, done) => (records.push(record), done()) }) });
        const app = express();
        app.use(expressWinston.logger({ transports: [sink()], expressFormat: false, msg: "{{req.method}} {{req.url}} {{res.statusCode}}", bodyWhitelist: ["a"], dynamicMeta: (request, response) => ({ route: request.route?.path, length: response.get("content-length") }) }));
        app.use(express.json());
        app.post("/items/:id", (request, response) => response.json(request.params));
        app.get("/fails", () => {
            throw new Error("on purpose");
        });
        app.use(expressWinston.errorLogger({ transports: [sink()], msg: "failed {{err.message}}" }));
        app.use((error, request, response, next) => response.status(500).json(error.message));
        const peer = await listen(app);
        await peer.json("POST", "/items/7", { a: 1, b: 2 });
        await peer.get("/fails");
        const seen = records.map(({ message, level, meta }) => [message, level, meta?.route, meta?.length, meta?.req?.body]);
        assert.deepEqual(seen.map(([message]) => message), ["POST /items/7 200", "failed on purpose", "GET /fails 500"]);
        assert.deepEqual(seen[0].slice(1, 4), ["info", "/items/:id", "10"]);
        note(seen);
    });
});

middleware(["express-prom-bundle", "prom-client"], ({ express, it }) => {
    it("counts by method, path and status", async ({ listen }) => {
        const promRegistry = new Registry();
        const app = express().use(promBundle({ includeMethod: true, includePath: true, includeStatusCode: true, promRegistry, autoregister: true, metricsPath: "/metrics", normalizePath: [["^/items/.*", "/items/#id"]] }));
        app.get("/items/:id", (request, response) => response.json(request.params));
        const peer = await listen(app, { changing: ["body"] });
        for (const path of ["/items/1", "/items/2", "/none"]) await peer.get(path);
        const metrics = await peer.get("/metrics");
        assert.match(metrics.headers["content-type"], /^text\/plain/);
        assert.match(metrics.text, /http_request_duration_seconds_count\{status_code="200",method="GET",path="\/items\/#id"\} 2/);
        assert.match(metrics.text, /http_request_duration_seconds_count\{status_code="404",method="GET",path="[^"]+"\} 1/);
    });
});

middleware("errorhandler", ({ express, it }) => {
    const app = (log) => {
        const made = express();
        made.get("/fails", () => {
            throw Object.assign(new Error("on <purpose>"), { status: 418 });
        });
        made.get("/late", (request, response, next) => {
            response.write("half", () => next(new Error("late")));
        });
        return made.use(errorhandler({ log }));
    };

    it("as JSON, text and HTML", async ({ listen }) => {
        const logged = [];
        const peer = await listen(app((error, text, request) => logged.push([error.message, request.url])), { changing: ["body"] });
        const json = await peer.get("/fails", { accept: "application/json" });
        assert.deepEqual([json.status, json.json.error.message, json.headers["x-content-type-options"]], [418, "on <purpose>", "nosniff"]);
        assert.match((await peer.get("/fails", { accept: "text/plain" })).text, /^Error: on <purpose>\n +at /);
        assert.match((await peer.get("/fails", { accept: "text/html" })).text, /<title>Error: on &lt;purpose&gt;<\/title>/);
        assert.deepEqual(logged, Array(3).fill(["on <purpose>", "/fails"]));
    });

    it("after the head it ends the connection", async ({ listen }) => {
        const peer = await listen(app(false));
        const request = peer.open("GET", "/late");
        request.end();
        const [response] = await once(request, "response");
        await assert.rejects(async () => {
            for await (const chunk of response) assert.equal(String(chunk), "half");
        }, { code: "ECONNRESET" });
    });
});
