// The example does what its README says.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { test } from "node:test";
import { events, started } from "./started.mjs";

const TEST_MS_MAX = 60_000;
const options = { timeout: TEST_MS_MAX };

/** Status and JSON of a request. */
async function ask(base, path, method = "GET", body) {
    const response = await fetch(`${base}${path}`, { method, body });
    const text = await response.text();
    return [response.status, text === "" ? undefined : JSON.parse(text), response.headers];
}

test("notes are made, listed, shown and removed", options, async (t) => {
    const { base } = await started(t);
    assert.deepEqual((await ask(base, "/notes")).slice(0, 2), [200, []]);
    const [status, note, headers] = await ask(base, "/notes", "POST", JSON.stringify({ text: "milk" }));
    assert.deepEqual([status, note, headers.get("location")], [201, { id: 1, text: "milk" }, "/notes/1"]);
    assert.deepEqual((await ask(base, "/notes")).slice(0, 2), [200, [note]]);
    assert.deepEqual((await ask(base, "/notes/1")).slice(0, 2), [200, note]);
    assert.deepEqual((await ask(base, "/notes/1", "DELETE")).slice(0, 2), [204, undefined]);
    assert.equal((await ask(base, "/notes/1"))[0], 404);
});

const refused = [
    ["a path that is not there", "/nothing", "GET", undefined, 404],
    ["a method that is not possible", "/notes", "PATCH", undefined, 405],
    ["a body that is not JSON", "/notes", "POST", "{", 400],
    ["a note without a text", "/notes", "POST", "{}", 422],
    ["a body that is too large", "/notes", "POST", JSON.stringify({ text: "x".repeat(100_000) }), 413],
    ["a file that is not there", "/files/none", "GET", undefined, 404],
    ["a file with a hidden name", "/files/.hidden", "PUT", "x", 404],
    ["a file of another folder", "/files/..%2Fserver.js", "GET", undefined, 404],
];

test("what cannot be done is said", options, async (t) => {
    const { base, said } = await started(t);
    for (const [name, path, method, body, status] of refused) {
        const [got, { error }] = await ask(base, path, method, body);
        assert.equal(got, status, name);
        assert.equal(typeof error, "string", name);
    }
    assert.equal((await ask(base, "/notes", "PATCH"))[2].get("allow"), "GET, POST");
    assert.deepEqual(said, []);
});

test("a file is streamed up and down again", options, async (t) => {
    const { base } = await started(t);
    const bytes = randomBytes(3_000_000);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    assert.deepEqual((await ask(base, "/files/photo.jpg", "PUT", bytes)).slice(0, 2), [201, { name: "photo.jpg", bytes: bytes.length, sha256 }]);
    const back = Buffer.from(await (await fetch(`${base}/files/photo.jpg`)).arrayBuffer());
    assert.ok(back.equals(bytes));
});

test("half an upload leaves no file, and the server goes on", options, async (t) => {
    const { base, said } = await started(t);
    const half = request(`${base}/files/half`, { method: "PUT", headers: { "content-length": 1000 } });
    half.on("error", () => {});
    half.write("x".repeat(500));
    // The server has it when it answers somebody else who came later.
    await once(half, "socket").then(([socket]) => (socket.connecting ? once(socket, "connect") : undefined));
    await ask(base, "/notes");
    half.destroy();
    assert.equal((await ask(base, "/files/half"))[0], 404);
    assert.deepEqual(said, []);
});

test("changes are events for everybody who listens", options, async (t) => {
    const { base } = await started(t);
    const [one, two] = [await events(`${base}/events`), await events(`${base}/events`)];
    assert.equal(one.response.headers.get("content-type"), "text/event-stream");
    for (const heard of [one, two]) assert.equal(await heard.next(), ": welcome");
    await ask(base, "/notes", "POST", '{"text":"tea"}');
    for (const heard of [one, two]) assert.equal(await heard.next(), 'event: created\ndata: {"id":1,"text":"tea"}');
    one.stop();
    await ask(base, "/notes/1", "DELETE");
    assert.equal(await two.next(), 'event: removed\ndata: {"id":1}');
    two.stop();
});

test("requests are counted", options, async (t) => {
    const { base } = await started(t);
    const text = await (await fetch(`${base}/metrics`)).text();
    assert.match(text, /^leat_lane_requests_total\{lane="0"\} 1$/m);
    assert.match(text, /^leat_gc_pause_seconds_count\{thread="0",kind="minor"\} \d+$/m);
});

test("it ends when it is told to, listeners or not", options, async (t) => {
    const { base, child } = await started(t);
    const heard = await events(`${base}/events`);
    await heard.next();
    const over = once(child, "exit");
    child.kill("SIGTERM");
    // The end of the events, or their being cut off: both are right.
    await heard.next().catch(() => undefined);
    assert.deepEqual(await over, [0, null]);
});
