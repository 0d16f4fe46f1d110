// AsyncLocalStorage: the requests of one batch share a call from the engine, and must share nothing else.
import assert from "node:assert/strict";
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { stat } from "node:fs/promises";
import { test } from "node:test";
import { promisify } from "node:util";
import { load } from "../load/generate.mjs";
import { engine, nodeIs, onLeat } from "../subject.mjs";
import { listening } from "./listening.mjs";
import { hold, Turns } from "./turns.mjs";

const CONNECTIONS = 200;
const REQUESTS = 6000;
const REASONS_KEPT_MAX = 5;

const storage = new AsyncLocalStorage();
const turns = new Turns();
const wrong = [];
const note = (what) => wrong.length < REASONS_KEPT_MAX && wrong.push(what);

const hops = {
    promise: () => Promise.resolve(),
    tick: promisify(process.nextTick),
    microtask: promisify(queueMicrotask),
    immediate: promisify((done) => setImmediate(done)),
    timeout: promisify((done) => setTimeout(done, 1)),
    file: () => stat("."),
};

/** Every way on from here keeps this request's store, and the events are its own or nobody's. */
async function walk(req, res, store) {
    const own = (where) => () => {
        const seen = storage.getStore();
        if (seen !== store && seen !== undefined && !keptByConnection(seen, req.socket)) note(`${where} of ${store.id} saw ${seen.id}`);
    };
    for (const event of ["data", "end", "close"]) req.on(event, own(`req ${event}`));
    for (const event of ["finish", "close"]) res.on(event, own(`res ${event}`));
    for (const [name, hop] of Object.entries(hops)) {
        await hop();
        if (storage.getStore() !== store) note(`after ${name}: ${store.id} saw ${storage.getStore()?.id}`);
    }
    res.end(store.id, () => own("end's callback")());
}

/** Node before 24 runs all requests of a connection in one resource, which keeps what enterWith left there. */
const keptByConnection = (store, socket) => !onLeat && !nodeIs(24) && store.entered && store.socket === socket;

const handlers = {
    run(req, res, store) {
        storage.run(store, walk, req, res, store);
        if (storage.getStore() === store) note(`${store.id}: run left its store behind`);
    },
    enter(req, res, store) {
        storage.enterWith({ ...store, entered: true });
        walk(req, res, storage.getStore());
    },
    exit(req, res, store) {
        storage.run(store, () => {
            storage.exit(() => {
                if (storage.getStore() !== undefined) note(`${store.id}: exit saw ${storage.getStore().id}`);
            });
            walk(req, res, store);
        });
    },
    throwing(req, res, store) {
        assert.throws(() => storage.run(store, () => { throw new Error("out of run"); }), /out of run/);
        if (storage.getStore() === store) note(`${store.id}: a throw left its store behind`);
        storage.run(store, walk, req, res, store);
    },
    bound(req, res, store) {
        const snapshot = storage.run(store, () => AsyncLocalStorage.snapshot());
        const resource = storage.run(store, () => new AsyncResource("TEST"));
        setImmediate(() => resource.runInAsyncScope(() => {
            if (storage.getStore() !== store) note(`${store.id}: a resource saw ${storage.getStore()?.id}`);
            resource.emitDestroy();
            snapshot(walk, req, res, store);
        }));
    },
    none(req, res, store) {
        const before = storage.getStore();
        setImmediate(() => {
            if (storage.getStore() !== before) note(`${store.id}: nobody's request saw ${storage.getStore()?.id}`);
            res.end(store.id);
        });
    },
};

function handle(req, res) {
    turns.count();
    const [, kind, id] = req.url.split("/");
    const before = storage.getStore();
    if (before !== undefined && !keptByConnection(before, req.socket)) note(`${kind} ${id} began in the store of ${before.id}`);
    if (Number(id) % 100 === 0) hold(3);
    handlers[kind](req, res, { id, socket: req.socket });
}

test("a store never reaches another request of its batch", async (t) => {
    const server = await listening(t, handle);
    const { port } = server.address();
    const patterns = Object.keys(handlers).flatMap((kind) => [`GET /${kind}/{id}`, `POST /${kind}/{id}`]);
    const before = engine();
    const result = await load({ port, connections: CONNECTIONS, requests: REQUESTS, patterns });
    const after = engine();

    assert.deepEqual(wrong, []);
    assert.deepEqual(result.wrong, []);
    assert.equal(result.answered, REQUESTS);
    assert.equal(storage.getStore(), undefined, "a store reached the test itself");
    t.diagnostic(`${turns.shared} turns with several requests, at most ${turns.most}`);
    assert.ok(turns.shared > 20, `only ${turns.shared} turns brought more than one request`);
    assert.ok(turns.most >= 10, `no turn brought more than ${turns.most} requests`);
    if (onLeat) {
        const [requests, wakes] = ["leat_lane_requests_total", "leat_lane_wakes_total"].map((name) => after[name] - before[name]);
        t.diagnostic(`${requests} requests in ${wakes} batches`);
        assert.equal(requests, REQUESTS);
        // Bodies come in records of their own, so there are more of those than requests.
        assert.ok(wakes < requests, `${requests} requests came in ${wakes} batches`);
    }
});

test("the store that listen() was called in is where every request begins, and no other's is", async (t) => {
    const seen = new Set();
    const count = (req, res) => {
        seen.add(storage.getStore()?.id);
        res.end(req.url.slice(1));
    };
    const inside = await storage.run({ id: "listener" }, () => listening(t, count));
    const outside = await listening(t, count);
    for (const [server, id] of [[inside, "listener"], [outside, undefined], [inside, "listener"]]) {
        seen.clear();
        const result = await load({ port: server.address().port, connections: 20, requests: 200, patterns: ["/{id}"] });
        assert.deepEqual(result.wrong, []);
        assert.deepEqual([...seen], [id]);
    }
});
