// async_hooks: every request has a context of its own, entered and left once, and given up in the end.
import assert from "node:assert/strict";
import { createHook, executionAsyncId, executionAsyncResource, triggerAsyncId } from "node:async_hooks";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import v8 from "node:v8";
import { runInNewContext } from "node:vm";
import { load } from "../load/generate.mjs";
import { onLeat } from "../subject.mjs";
import { listening } from "./listening.mjs";
import { hold, Turns } from "./turns.mjs";

const CONNECTIONS = 100;
const REQUESTS = 3000;
const GC_TURNS_MAX = 200;

v8.setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");

test("each request runs under an id and a resource of its own", async (t) => {
    const turns = new Turns();
    const ids = new Map();
    const resources = new Map();
    const wrong = new Set();
    // Node gives one context to all requests of a connection, Leat one to each.
    const owner = (req) => (onLeat ? req : req.socket);
    const server = await listening(t, (req, res) => {
        turns.count();
        const id = executionAsyncId();
        const resource = executionAsyncResource();
        if (id <= 1) wrong.add(`the id of a request is ${id}`);
        if (triggerAsyncId() <= 0) wrong.add(`the trigger of a request is ${triggerAsyncId()}`);
        if (ids.has(id) && ids.get(id) !== owner(req)) wrong.add("two owners with one id");
        if (resources.has(resource) && resources.get(resource) !== owner(req)) wrong.add("two owners with one resource");
        ids.set(id, owner(req));
        resources.set(resource, owner(req));
        if (ids.size % 50 === 0) hold(2);
        const name = req.url.slice(1);
        Promise.resolve().then(() => {
            if (executionAsyncId() === id) wrong.add("a promise's reaction ran under the request's own id");
            res.end(name);
        });
        if (executionAsyncId() !== id) wrong.add("the id changed inside of a handler");
    });
    const result = await load({ port: server.address().port, connections: CONNECTIONS, requests: REQUESTS, patterns: ["/{id}"] });
    assert.deepEqual(result.wrong, []);
    assert.deepEqual([...wrong], []);
    assert.equal(ids.size, onLeat ? REQUESTS : CONNECTIONS);
    assert.ok(turns.shared > 5, `only ${turns.shared} turns brought more than one request`);
});

test("a context that hooks copy from resource to resource stays with its request", async (t) => {
    const key = Symbol("context");
    const stack = [];
    const live = new Map();
    const wrong = new Set();
    const hook = createHook({
        init(id, type, trigger, resource) {
            live.set(id, type);
            const from = executionAsyncResource();
            if (from?.[key] !== undefined) resource[key] = from[key];
        },
        before: (id) => stack.push(id),
        after(id) {
            // An uncaught error would unwind several at once; there is none here.
            const top = stack.pop();
            if (top !== id && top !== undefined) wrong.add(`left ${live.get(id)} inside of ${live.get(top)}`);
        },
        destroy: (id) => live.delete(id),
    }).enable();
    t.after(() => hook.disable());

    const requests = new Map();
    const turns = new Turns();
    const server = await listening(t, async (req, res) => {
        turns.count();
        const name = req.url.slice(1);
        requests.set(executionAsyncId(), live.get(executionAsyncId()));
        if (Number(name) % 50 === 0) hold(2);
        executionAsyncResource()[key] = name;
        await turn();
        if (executionAsyncResource()[key] !== name) wrong.add(`request ${name} became ${executionAsyncResource()[key]}`);
        await Promise.resolve();
        if (executionAsyncResource()[key] !== name) wrong.add(`request ${name} became ${executionAsyncResource()[key]}`);
        res.end(name);
    });
    const result = await load({ port: server.address().port, connections: CONNECTIONS, requests: REQUESTS, patterns: ["/{id}"] });
    assert.deepEqual(result.wrong, []);
    assert.deepEqual([...wrong], []);
    assert.ok(turns.shared > 5, `only ${turns.shared} turns brought more than one request`);
    assert.ok(![...requests.values()].includes(undefined), "a request's context was never announced to init");

    // Every announced context of a request is given up: with its connection, or when it is collected.
    server.closeAllConnections();
    const left = () => [...requests.keys()].filter((id) => live.has(id)).length;
    for (let i = 0; i < GC_TURNS_MAX && left() > 0; i += 1) {
        gc();
        await turn();
    }
    assert.equal(left(), 0, `contexts of ${left()} requests are never destroyed: ${JSON.stringify([...new Set(requests.values())])}`);
});
