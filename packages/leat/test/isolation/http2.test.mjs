// HTTP/2: many requests of one connection come in one batch, and share no more than those of several connections do.
// The reference is the compatibility API of node:http2.
import assert from "node:assert/strict";
import { AsyncLocalStorage, executionAsyncId } from "node:async_hooks";
import { once } from "node:events";
import http2 from "node:http2";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { http, onLeat } from "../subject.mjs";
import { within } from "../within.mjs";
import { hold, Turns } from "./turns.mjs";

const SESSIONS = 5;
const STREAMS = 60;
const ROUNDS = 12;
const REASONS_KEPT_MAX = 5;

const storage = new AsyncLocalStorage();

const create = (handler) => (onLeat ? http.createServer({ http2: true }, handler) : http2.createServer(handler));

/** One request; resolves to its status, body and what its own field came back as. */
async function ask(session, path, body) {
    const stream = session.request({ ":path": path, ":method": body === undefined ? "GET" : "POST", "x-own": path });
    let text = "";
    stream.setEncoding("utf8");
    stream.on("data", (chunk) => (text += chunk));
    const head = once(stream, "response");
    stream.end(body);
    const [headers] = await head;
    await once(stream, "close");
    return { status: headers[":status"], own: headers["x-own"], body: text };
}

test("streams of one connection keep their stores, fields and bodies apart", async (t) => {
    const turns = new Turns();
    const wrong = [];
    const note = (what) => wrong.length < REASONS_KEPT_MAX && wrong.push(what);
    const ids = new Set();
    const kept = [];

    const server = create(async (req, res) => {
        turns.count();
        const [, kind, id] = req.url.split("/");
        if (storage.getStore() !== undefined) note(`${id} began in the store of ${storage.getStore()}`);
        ids.add(executionAsyncId());
        if (Number(id) % 40 === 0) hold(2);
        if (Number(id) % 20 === 0) kept.push([id, req]);
        if (kind === "enter") storage.enterWith(id);
        await (kind === "enter" ? walk(req, res, id) : storage.run(id, walk, req, res, id));
    });
    async function walk(req, res, id) {
        let text = "";
        for await (const chunk of req) text += chunk;
        await turn();
        if (storage.getStore() !== id) note(`${id} became ${storage.getStore()}`);
        res.setHeader("x-own", req.headers["x-own"]);
        res.end(text === "" ? id : text);
    }

    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const sessions = Array.from({ length: SESSIONS }, () => http2.connect(`http://127.0.0.1:${server.address().port}`));
    t.after(() => server.close());
    t.after(() => sessions.forEach((session) => session.destroy()));

    let id = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
        const asked = sessions.flatMap((session) => Array.from({ length: STREAMS }, async () => {
            id += 1;
            const own = String(id);
            const kind = ["run", "enter", "post"][id % 3];
            const path = `/${kind}/${own}`;
            const reply = await ask(session, path, kind === "post" ? `body of ${own}` : undefined);
            assert.deepEqual(reply, { status: 200, own: path, body: kind === "post" ? `body of ${own}` : own });
        }));
        await within(Promise.all(asked), `round ${round}`);
    }

    assert.deepEqual(wrong, []);
    for (const [own, req] of kept) assert.equal(req.headers["x-own"].split("/")[2], own);
    assert.equal(kept.length, id / 20);
    assert.ok(turns.most >= 10, `no turn brought more than ${turns.most} requests`);
    t.diagnostic(`${id} requests, at most ${turns.most} in a turn, ${ids.size} contexts`);
    if (onLeat) assert.equal(ids.size, id);
});
