// The plan: which layers it names for a path, and that nothing but the stack decides how large it is.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import test from "node:test";

const ours = createRequire(import.meta.url);
const { planOf } = ours("../../../dist/express/router/plan.js");
const { layerPattern } = ours("../../../dist/express/router/v5/layer.js");
const { Router5 } = ours("../../../dist/express/router/index.js");

/** The plan of a router's stack, and the layers it names for a path. */
function planned(make) {
    const router = Router5();
    make(router);
    const patterns = [...router.stack].map(layerPattern);
    const plan = planOf(patterns);
    return (path) => {
        const state = plan.find(path);
        return state === null ? "all" : [...state.through, ...state.ends].sort((one, two) => one - two);
    };
}

const nothing = () => {};

test("of 1,000 routes, a path names the one it is for", () => {
    const named = planned((router) => {
        for (let at = 0; at < 1000; at++) router.get(`/r${at}/:id`, nothing);
    });
    assert.deepEqual(named("/r0/x"), [0]);
    assert.deepEqual(named("/R999/x/"), [999]);
    assert.deepEqual(named("/r1000/x"), []);
    assert.deepEqual(named("/r5"), []);
    assert.deepEqual(named("/r5/x/y"), []);
});

test("middleware, mounts, wildcards and expressions stay in the order of the stack", () => {
    const named = planned((router) => {
        router.get("/a/b", nothing).use(nothing).use("/a", nothing).get("/:x/b", nothing).get("/a/*rest", nothing).get(/b/, nothing).get("/a/b", nothing).get("/c", nothing);
    });
    assert.deepEqual(named("/a/b"), [0, 1, 2, 3, 4, 5, 6]);
    assert.deepEqual(named("/a/c"), [1, 2, 4, 5]);
    assert.deepEqual(named("/x/b"), [1, 3, 5]);
    assert.deepEqual(named("/c"), [1, 5, 7]);
    assert.deepEqual(named("/"), [1, 5]);
    assert.deepEqual(named("/a"), [1, 2, 4, 5]);
});

test("a path that does not start with a slash is tried on every layer", () => {
    const named = planned((router) => router.get("/a", nothing).get("/b", nothing).get("/c", nothing).get("*x", nothing));
    assert.equal(named("a"), "all");
    assert.equal(named(""), "all");
    assert.deepEqual(named("/x"), [3]);
});

test("patterns that multiply beyond the limit make no trie, and soon", () => {
    const started = process.cpuUsage();
    const named = planned((router) => {
        // Each may be what the segment is, or any: two to the power of sixteen ways.
        for (let depth = 0; depth < 16; depth++) {
            router.use(`${"/:x".repeat(depth)}/${"abcdefghijklmnop"[depth]}`, nothing);
        }
        for (let at = 0; at < 3; at++) router.get(`/r${at}${"/:x".repeat(15)}`, nothing);
    });
    assert.equal(named("/a/b/c"), "all");
    assert.ok(process.cpuUsage(started).user < 20_000_000, "takes seconds");
});

test("paths that nobody has a route for leave nothing behind", () => {
    const router = Router5();
    for (let at = 0; at < 50; at++) router.get(`/r${at}/:id`, nothing);
    const patterns = [...router.stack].map(layerPattern);
    const plan = planOf(patterns);
    const seen = new Set();
    for (let at = 0; at < 20_000; at++) seen.add(plan.find(`/${at}/x`)).add(plan.find(`/r1/x/${at}`)).add(plan.find(`/r${at % 50}/${at}`));
    assert.ok(seen.size <= 52, `${seen.size} states for 50 routes`);
});
