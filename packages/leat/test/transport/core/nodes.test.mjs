// Which node a try goes to, and when one is left alone: on a virtual clock, with chances that are given.
import assert from "node:assert/strict";
import { test } from "node:test";
import { middleware } from "leat/middleware";
import { scripted } from "./made.mjs";

const A = "http://a.test:1";
const B = "http://b.test:2";
const C = "http://c.test:3";
const nameOf = (origin) => /\w/.exec(origin.slice(7))[0];
const quiet = (promise) => promise.catch(() => undefined);

/** Makes calls one after the other, and tells the nodes that they went to. */
async function walk({ transport, clock, sent }, count) {
    const from = sent.length;
    for (let at = 0; at < count; at++) await clock.settle(quiet(transport.request({ path: "/" })));
    return sent.slice(from).map(({ origin }) => nameOf(origin)).join("");
}

const ORDERS = [
    ["weighted by default, which is in turns", [A, B, C], {}, 6, "abcabc"],
    ["weighted", [{ url: A, weight: 5 }, B, C], { strategy: "weighted" }, 7, "aabacaa"],
    ["round robin, whatever the weights", [{ url: A, weight: 5 }, B], { strategy: "round_robin" }, 4, "abab"],
    ["least request, of two that chance names", [A, B], { strategy: "least_request" }, 3, "aaa"],
];

for (const [name, nodes, balance, count, expected] of ORDERS) {
    test(`nodes: ${name}`, async () => assert.equal(await walk(scripted(() => ({}), { nodes, balance }), count), expected));
}

test("least request takes the one with less under way", async () => {
    const { transport, sent, clock } = scripted(["silent", {}, {}], { nodes: [A, B], balance: { strategy: "least_request" } });
    const first = quiet(transport.request({ path: "/" }));
    await clock.advance(1);
    await clock.settle(transport.request({ path: "/" }));
    await clock.settle(transport.request({ path: "/" }));
    assert.deepEqual(sent.map(({ origin }) => nameOf(origin)), ["a", "b", "b"]);
    await transport.close();
    await first;
});

test("peak EWMA flees a node that is slow, and tries it again later", async () => {
    const made = scripted(({ origin }) => ({ afterMs: nameOf(origin) === "a" ? 500 : 5 }), { nodes: [A, B], balance: { strategy: "peak_ewma" } });
    assert.equal(await walk(made, 5), "abbbb");
    // What is used keeps its cost; what is not used loses half of it every 10 s, a hundredth of it after seven times that.
    let went = "";
    for (let round = 0; round < 9; round++) {
        await made.clock.advance(10_000);
        went += await walk(made, 1);
    }
    assert.match(went, /^b{6}b?ab*$/);
});

const REFUSED = { fails: "connection.failed" };

test("a node whose connection fails is dead: 1, 2, 4 s … and one call at a time finds out whether it is back", async () => {
    let isDown = true;
    const made = scripted(({ origin }) => (isDown && nameOf(origin) === "a" ? REFUSED : {}), { nodes: [A, B], balance: { deadMsMax: 3000 } });
    const state = () => made.transport.nodes()[0].state;
    assert.equal(await walk(made, 4), "abbb");
    assert.equal(state(), "dead");
    const waits = [];
    for (let round = 0; round < 3; round++) {
        const { deadMs } = made.transport.nodes()[0];
        waits.push(deadMs);
        await made.clock.advance(deadMs - 1);
        assert.equal(await walk(made, 3), "bbb");
        await made.clock.advance(1);
        assert.equal(state(), "probing");
        assert.match(await walk(made, 3), /^b*ab*$/);
    }
    assert.deepEqual(waits, [1000, 2000, 3000]);
    isDown = false;
    await made.clock.advance(3000);
    assert.equal((await walk(made, 6)).split("a").length - 1, 3, "its share again");
    assert.equal(state(), "alive");
    assert.deepEqual(made.transport.nodes().map(({ failures, inFlight }) => [failures, inFlight]), [[4, 0], [0, 0]]);
});

test("as many calls as there are find out by one whether a node is back", async () => {
    const made = scripted(({ origin, number }) => (number === 0 ? REFUSED : { afterMs: nameOf(origin) === "a" ? 100 : 10 }), { nodes: [A, B] });
    assert.equal(await walk(made, 1), "a");
    await made.clock.advance(1000);
    await made.clock.settle(Promise.all(Array.from({ length: 8 }, () => made.transport.request({ path: "/" }))));
    assert.equal(made.sent.slice(1).filter(({ origin }) => origin === A).length, 1);
});

test("failures in a row may be allowed, and an answer ends the row", async () => {
    const fails = [true, true, false, true, true, true];
    const made = scripted(({ number }) => (fails[number] === true ? REFUSED : {}), { nodes: [A], balance: { failuresMax: 3 } });
    const states = [];
    for (let at = 0; at < 6; at++) {
        await walk(made, 1);
        states.push(made.transport.nodes()[0].state);
    }
    assert.deepEqual(states, ["alive", "alive", "alive", "alive", "alive", "dead"]);
});

const NOT_THE_NODES = [
    ["a status is an answer", { status: 503 }, {}],
    ["the peer did nothing with it", { fails: "connection.not_processed" }, {}],
    ["the call's time was over", "silent", { timeoutMs: 10 }],
    ["the body was over a limit", { body: "x".repeat(20) }, { limits: { rawBytesMax: 10 } }],
];

for (const [name, step, options] of NOT_THE_NODES) {
    test(`it is not the node's failure: ${name}`, async () => {
        const made = scripted(() => step, { nodes: [A, B], ...options });
        await walk(made, 1);
        assert.deepEqual(made.transport.nodes().map(({ state, failures, inFlight }) => [state, failures, inFlight]), [["alive", 0, 0], ["alive", 0, 0]]);
    });
}

test("where all are dead, the one that is the first to be back is tried: a call is better tried than refused", async () => {
    const made = scripted(() => REFUSED, { nodes: [A, B, C] });
    assert.equal(await walk(made, 3), "abc");
    assert.deepEqual(made.transport.nodes().map(({ state }) => state), ["dead", "dead", "dead"]);
    assert.equal(await walk(made, 1), "a");
});

test("a second try goes to another node, where there is one", async () => {
    const again = middleware({ name: "again", scope: "call", repeats: true, around: async (_context, next) => (await next(), next()) });
    for (const strategy of ["weighted", "round_robin", "least_request", "peak_ewma"]) {
        const made = scripted(() => ({ status: 503 }), { nodes: [A, B], balance: { strategy }, middleware: [again] });
        for (const pair of (await walk(made, 4)).match(/../g)) assert.match(pair, /ab|ba/, strategy);
        const alone = scripted(() => ({ status: 503 }), { nodes: [A], balance: { strategy }, middleware: [again] });
        assert.equal(await walk(alone, 1), "aa");
    }
});

test("other nodes take the place of these; one that stays keeps what is known of it", async () => {
    const made = scripted(({ origin }) => (nameOf(origin) === "a" ? REFUSED : {}), { nodes: [A, B] });
    await walk(made, 2);
    made.transport.setNodes([C, A]);
    assert.deepEqual(made.transport.nodes().map(({ origin, state, tries }) => [origin, state, tries]), [[C, "alive", 0], [A, "dead", 1]]);
    assert.equal(await walk(made, 2), "cc");
    assert.throws(() => made.transport.setNodes([]), { code: "options.invalid" });
    assert.throws(() => made.transport.setNodes(["a.test"]), { code: "options.invalid", message: /nodes\[0\]/ });
    assert.equal(await walk(made, 1), "c", "a refusal changes nothing");
});

test("nodes are sniffed at their times, never twice at once, and a sniff that fails changes nothing", async () => {
    const answers = [[B], new Error("no master"), "none", [], ["nonsense"], [C]];
    let sniffs = 0;
    let atOnce = 0;
    const sniff = async () => {
        assert.equal(++atOnce, 1);
        const answer = answers[sniffs++];
        await Promise.resolve();
        atOnce--;
        if (answer instanceof Error) throw answer;
        return answer;
    };
    const made = scripted(() => ({}), { nodes: [A], balance: { sniff, sniffMs: 1000 } });
    assert.equal(sniffs, 0, "nothing before the first call");
    assert.equal(await walk(made, 3), "abb", "which does not wait for it");
    assert.equal(sniffs, 1);
    for (let round = 0; round < 4; round++) {
        await made.clock.advance(1000);
        assert.equal(await walk(made, 2), "bb");
    }
    await made.clock.advance(1000);
    assert.equal(await walk(made, 2), "bc");
    assert.equal(sniffs, 6);
});
