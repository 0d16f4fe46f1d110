// Programs of their own: what changes Express for a whole process, and what is started in a way of its own.
import assert from "node:assert/strict";
import { startProgram } from "../program.mjs";
import { major } from "../subjects.mjs";
import { middleware } from "../suite.mjs";

middleware("@opentelemetry/instrumentation-http", ({ kind, it }) => {
    it("a span for each request, in the trace of its caller", async (context) => {
        const peer = await startProgram("tracing.cjs", kind, context, { changing: ["body"] });
        for (const path of ["/items/7", "/none", "/fails"]) await peer.get(path, { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" });
        const served = (await peer.get("/spans")).json.filter(({ kind: of }) => of === 1);
        assert.deepEqual(served.map(({ trace, code, status, scheme }) => [trace, code, status, scheme]), [200, 404, 500].map((code) => ["0af7651916cd43dd8448eb211c80319c", code, code === 500 ? 2 : 0, "http"]));
    });
}, { programs: true });

middleware(["@opentelemetry/instrumentation-express", "@opentelemetry/instrumentation-http"], ({ kind, it }) => {
    // Whose server a span came from shows in nothing; ids are of each run.
    const told = (spans) => spans.map(({ trace, ...span }) => span);

    it("a span for the request and one for each layer, with the route", async ({ note, ...context }) => {
        const peer = await startProgram("tracing.cjs", kind, context, { changing: ["body"] });
        const item = await peer.get("/items/7", { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" });
        assert.equal(item.json.id, "7");
        note(item.json.active);
        const spans = (await peer.get("/spans")).json;
        assert.ok(spans.every(({ trace }) => trace === "0af7651916cd43dd8448eb211c80319c"));
        assert.deepEqual(spans.filter(({ kind: of }) => of === 1).map(({ name, route }) => [name, route]), [["GET /items/:id", "/items/:id"]]);
        assert.deepEqual(spans.filter(({ type }) => type !== null).map(({ name, type, parent }) => [name, type, parent]), [
            ...(major === 4 ? ["query", "expressInit"].map((name) => [`middleware - ${name}`, "middleware", "GET /items/:id"]) : []),
            ["middleware - jsonParser", "middleware", "GET /items/:id"],
            ["middleware - marks", "middleware", "GET /items/:id"],
            [major === 5 ? "request handler" : "request handler - /items/:id", "request_handler", "GET /items/:id"],
        ]);
        note(told(spans));
    });

    it("routers, and errors", async ({ note, ...context }) => {
        const peer = await startProgram("tracing.cjs", kind, context, { changing: ["body"] });
        await peer.get("/below/leaf/ann");
        const deep = (await peer.get("/spans")).json;
        assert.ok(deep.some(({ name }) => name === "GET /below/leaf/:name"), JSON.stringify(deep.map(({ name }) => name)));
        assert.ok(deep.some(({ name, type }) => name === "router - /below" && type === "router"));
        await peer.get("/fails");
        const failed = (await peer.get("/spans")).json;
        assert.ok(failed.some(({ status, events }) => status === 2 && events.includes("exception")));
        await peer.get("/none");
        const missing = (await peer.get("/spans")).json;
        note([told(deep), told(failed), told(missing)]);
    });
}, { programs: true });

middleware("express-async-errors", ({ kind, it }) => {
    it("rejections of handlers, middleware and parameters reach the error handler", async (context) => {
        const peer = await startProgram("async_errors.cjs", kind, context);
        const seen = [];
        for (const path of ["/rejects", "/guarded", "/guarded?key=k", "/items/7", "/items/bad", "/below/leaf"]) {
            const { status, json } = await peer.get(path);
            seen.push([status, json]);
        }
        assert.deepEqual(seen, [[409, "rejected"], [401, "no key"], [200, "in"], [200, "7"], [422, "bad id"], [410, "deep"]]);
    });
}, { majors: [4], programs: true });

middleware(["cors", "helmet", "morgan", "compression", "cookie-parser", "express-session"], ({ kind, it }) => {
    it("a chain of them in a program with app.listen", async (context) => {
        const peer = await startProgram("plain.mjs", kind, context);
        const first = await peer.json("POST", "/count", { by: 2 });
        assert.deepEqual([first.json, first.headers["access-control-allow-origin"], first.headers["x-frame-options"]], [{ count: 2, cookies: [] }, "*", "SAMEORIGIN"]);
        assert.deepEqual((await peer.json("POST", "/count", { by: 3 }, { cookie: first.cookie })).json, { count: 5, cookies: ["connect.sid"] });
        assert.match((await peer.get("/static/load.mjs")).text, /import/);
        assert.equal((await peer.request("POST", "/count", { headers: { "content-type": "application/json" }, body: "{" })).status, 400);
        assert.equal((await peer.get("/none")).status, 404);
    });
}, { programs: true });
