// node:http's client: requests, agents, events in their order, errors.
const http = require("node:http");
const { ORIGIN, NONSENSE, CLOSED } = process.env;
const { hostname, port } = new URL(ORIGIN);
const show = (...values) => console.log(JSON.stringify(values).replaceAll(ORIGIN, "ORIGIN").replaceAll(CLOSED, "CLOSED").replaceAll(/127\.0\.0\.1:\d+/g, "ADDRESS").replaceAll(/:\d{5}\b/g, ":PORT"));
const text = async (res) => {
    let all = "";
    for await (const piece of res.setEncoding("utf8")) all += piece;
    return all;
};
const respond = (req) => new Promise((resolve, reject) => req.on("response", resolve).on("error", reject));
const told = (req, names) => {
    const list = [];
    for (const name of names) req.on(name, (value) => list.push(value instanceof Error ? [name, value.name, value.message, value.code ?? null] : name));
    return list;
};
const closed = (emitter) => new Promise((resolve) => emitter.once("close", resolve));
const EVENTS = ["socket", "finish", "response", "continue", "information", "abort", "timeout", "error", "close"];

async function main() {
    for (const agent of [undefined, new http.Agent({ keepAlive: true }), false]) {
        const res = await respond(http.get(`${ORIGIN}/echo?x=1`, { agent, headers: { "X-Own": "1", x: ["a", "b"] } }));
        show(res.statusCode, res.statusMessage, res.httpVersion, res.headers["content-type"], res.rawHeaders.slice(0, 2), res instanceof http.IncomingMessage, await text(res), res.complete);
    }
    const posted = http.request({ hostname, port, path: "/echo", method: "POST", headers: { "content-type": "text/plain" } });
    const events = told(posted, EVENTS);
    const postedClosed = closed(posted);
    show(posted.write("one "), posted.headersSent, posted.getHeader("host") !== undefined, posted.method, posted.path, posted.protocol, posted.host);
    posted.end("two", () => show("end called back"));
    const res = await respond(posted);
    show(await text(res));
    await postedClosed;
    show(events, posted.destroyed, posted.writableEnded, posted.writableFinished, posted.res === res, res.req === posted);
    for (const [method, body] of [["POST", ""], ["POST", "whole"], ["PUT", Buffer.from([255, 0])], ["DELETE", ""], ["PATCH", "ü"]]) {
        const req = http.request(`${ORIGIN}/echo`, { method });
        req.end(body);
        show(method, await text(await respond(req)));
    }
    const known = http.request(`${ORIGIN}/echo`, { method: "POST", headers: { "Content-Length": 6 }, auth: "user:pass" });
    known.write("abc");
    known.end("def");
    show(await text(await respond(known)));
    const arrays = http.request(`${ORIGIN}/echo`, { method: "GET" });
    arrays.setHeader("a", "1");
    arrays.setHeader("B", ["2", "3"]);
    arrays.removeHeader("a");
    arrays.flushHeaders();
    show(arrays.getHeaderNames(), arrays.hasHeader("b"), arrays.getRawHeaderNames());
    arrays.end();
    show(await text(await respond(arrays)));
    const head = await respond(http.request(`${ORIGIN}/hello`, { method: "HEAD" }).end());
    show(head.statusCode, head.headers["set-cookie"], head.headers["x-a"], await text(head));
    for (const code of [204, 304, 404]) {
        const res = await respond(http.get(`${ORIGIN}/status?code=${code}`));
        show(res.statusCode, res.statusMessage, await text(res), res.complete);
    }
    const trailed = await respond(http.get(`${ORIGIN}/trailers`));
    show(await text(trailed), trailed.trailers, trailed.rawTrailers);
    const early = http.get(`${ORIGIN}/early`);
    early.on("information", ({ statusCode, headers }) => show("information", statusCode, headers));
    show(await text(await respond(early)));
    const asks = http.request(`${ORIGIN}/continue`, { method: "POST", headers: { expect: "100-continue" } });
    const asked = told(asks, EVENTS);
    const asksClosed = closed(asks);
    asks.on("continue", () => asks.end("body"));
    show(await text(await respond(asks)));
    await asksClosed;
    show(asked);
    let bytes = 0;
    for await (const piece of await respond(http.get(`${ORIGIN}/big`))) bytes += piece.length;
    show("big", bytes);
    const upload = http.request(`${ORIGIN}/echo`, { method: "POST" });
    const answer = respond(upload);
    for (let at = 0; at < 64; at++) {
        if (!upload.write(Buffer.alloc(64 * 1024, "x"))) await new Promise((resolve) => upload.once("drain", resolve));
    }
    upload.end();
    show("upload", JSON.parse(await text(await answer)).body.length);
    const { Readable, pipeline } = require("node:stream");
    const piped = http.request(`${ORIGIN}/echo`, { method: "POST" });
    pipeline(Readable.from(["p", "q", "r"]), piped, (error) => show("pipeline", error ?? null));
    show(JSON.parse(await text(await respond(piped))).body);

    const failing = async (name, make) => {
        let req;
        try {
            req = make();
        } catch (error) {
            show(name, "throws", error.name, error.code, error.message);
            return;
        }
        const list = told(req, EVENTS);
        req.on("response", (res) => {
            list.push(...[]);
            res.on("aborted", () => list.push("res aborted"));
            res.on("error", (error) => list.push(["res error", error.message, error.code]));
            res.on("end", () => list.push("res end"));
            res.resume();
        });
        await closed(req);
        await new Promise((resolve) => setImmediate(resolve));
        show(name, list.filter((each) => each !== "socket"), req.destroyed, req.aborted);
    };
    await failing("refused", () => http.get(CLOSED));
    await failing("no such name", () => http.get("http://no-such-name.invalid/"));
    await failing("reset", () => http.get(`${ORIGIN}/reset`));
    await failing("cut", () => http.get(`${ORIGIN}/cut`));
    await failing("destroyed at once", () => http.get(`${ORIGIN}/never`).destroy());
    await failing("destroyed with error", () => http.get(`${ORIGIN}/never`).destroy(new Error("mine")));
    await failing("aborted at once", () => {
        const req = http.get(`${ORIGIN}/never`);
        req.abort();
        return req;
    });
    await failing("destroyed in the body", () => http.get(`${ORIGIN}/begins`, (res) => res.once("data", () => res.req.destroy())));
    await failing("signal", () => {
        const controller = new AbortController();
        const req = http.get(`${ORIGIN}/never`, { signal: controller.signal });
        req.on("socket", () => setImmediate(() => controller.abort()));
        return req;
    });
    await failing("timeout", () => {
        const req = http.get(`${ORIGIN}/never`, { timeout: 50 });
        return req.on("timeout", () => req.destroy());
    });
    await failing("setTimeout", () => {
        const req = http.get(`${ORIGIN}/never`);
        return req.setTimeout(50, () => req.destroy(new Error("too slow")));
    });
    await failing("protocol", () => http.get("https://a/"));
    await failing("path", () => http.get({ path: "/a b" }));
    await failing("method", () => http.request({ method: "a b" }));
    await failing("header name", () => http.request({ headers: { "a b": "x" } }));
    await failing("header value", () => http.request({ headers: { a: "x\r\ny" } }));
    await failing("header undefined", () => http.request({ headers: { a: undefined } }));
    await failing("host", () => http.request({ host: 5 }));
    await failing("url", () => http.get("no url"));
    const late = http.request(`${ORIGIN}/echo`, { method: "POST" });
    late.end();
    late.on("error", (error) => show("late", error.code));
    show(await text(await respond(late)) !== "");
    try {
        late.setHeader("a", "b");
    } catch (error) {
        show(error.code, error.message);
    }
    const upgraded = http.request(`${ORIGIN}/`, { headers: { connection: "upgrade", upgrade: "echo" } });
    upgraded.end();
    await new Promise((resolve) => {
        upgraded.on("upgrade", (res, socket, first) => {
            let got = first.toString();
            show("upgrade", res.statusCode, res.headers.upgrade);
            socket.on("data", (piece) => {
                got += piece;
                if (got === "first") socket.write("ping");
                if (got === "firstping") socket.end();
            });
            if (got === "first") socket.write("ping");
            socket.on("close", () => resolve(show("upgraded", got)));
        });
    });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const ids = await Promise.all([1, 2, 3].map(async () => text(await respond(http.get(`${ORIGIN}/socket`, { agent })))));
    show("one socket", new Set(ids).size, agent.maxSockets, agent.getName({ host: "a", port: 1 }), http.globalAgent.keepAlive);
    agent.destroy();
}
main().then(() => show("done"), (error) => show("failed", String(error), error.stack));
