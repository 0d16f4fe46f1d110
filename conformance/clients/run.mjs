// Clients that others wrote, against `leat mock`: grpcurl, ghz, grpc-js, grpcio, curl, and connect-web in Chromium from a page of another
// origin. What is not installed is skipped, and says so.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openPage, PAGE_FOUND, PAGE_PROTOCOLS } from "./browser.mjs";
import { here, start } from "./mock.mjs";
import { needs, python, run } from "./tool.mjs";

const SAY = { say: ["re: hi", 7, [0, 255], ["a", "b"]] };

let mock;
let address;
before(async () => {
    mock = await start();
    address = mock.address;
});
after(() => mock?.stop());

test("grpcurl: lists and describes by reflection", needs("grpcurl"), async () => {
    const list = await run("grpcurl", ["-plaintext", address, "list"]);
    assert.deepEqual(list.stdout.trim().split("\n").sort(), ["clients.v1.Notes", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"], list.stderr);
    const described = await run("grpcurl", ["-plaintext", address, "describe", "clients.v1.Note"]);
    assert.match(described.stdout, /repeated string tags = 4;/);
});

test("grpcurl: a call, with metadata", needs("grpcurl"), async () => {
    const { stdout, stderr } = await run("grpcurl", ["-plaintext", "-v", "-H", "x-ask: 1", "-d", '{"text":"hi","id":7}', address, "clients.v1.Notes/Say"]);
    assert.match(stdout, /"text": "re: hi"/, stderr);
    assert.match(stdout, /x-head: 1/);
    assert.match(stdout, /x-trail: end/);
});

test("grpcurl: an error with its details", needs("grpcurl"), async () => {
    const { code, stderr } = await run("grpcurl", ["-plaintext", "-format-error", "-d", '{"text":"refuse"}', address, "clients.v1.Notes/Say"]);
    assert.notEqual(code, 0);
    assert.match(stderr, /"code": 7/);
    assert.match(stderr, /"reason": "RULE"/);
});

test("grpcurl: streams of every kind", needs("grpcurl"), async () => {
    const count = await run("grpcurl", ["-plaintext", "-d", "{}", address, "clients.v1.Notes/Count"]);
    assert.equal(count.stdout.match(/\{/g)?.length, 5, count.stderr);
    const join = await run("grpcurl", ["-plaintext", "-d", "@", address, "clients.v1.Notes/Join"], '{"text":"a"} {"text":"b"}');
    assert.match(join.stdout, /"text": "a b"/, join.stderr);
    const talk = await run("grpcurl", ["-plaintext", "-d", "@", address, "clients.v1.Notes/Talk"], '{"text":"a"} {"text":"b"}');
    assert.deepEqual(talk.stdout.match(/re: \w/g), ["re: a", "re: b"], talk.stderr);
});

test("grpcurl: health", needs("grpcurl"), async () => {
    const { stdout, stderr } = await run("grpcurl", ["-plaintext", "-d", '{"service":"clients.v1.Notes"}', address, "grpc.health.v1.Health/Check"]);
    assert.match(stdout, /SERVING/, stderr);
});

test("ghz: two thousand calls, all of them OK", needs("ghz"), async () => {
    const { stdout, stderr } = await run("ghz", ["--insecure", "--proto", join(here, "notes.proto"), "--call", "clients.v1.Notes.Say", "-d", '{"text":"hi"}', "-n", "2000", "-c", "50", "-O", "json", address]);
    const report = JSON.parse(stdout || "{}");
    assert.deepEqual(report.statusCodeDistribution, { OK: 2000 }, stderr);
});

test("grpc-js: every kind of call", async () => {
    const { credentials, loadPackageDefinition, Metadata, status } = await import("@grpc/grpc-js");
    const { loadSync } = await import("@grpc/proto-loader");
    const { clients } = loadPackageDefinition(loadSync(join(here, "notes.proto"), { longs: Number, defaults: true }));
    const notes = new clients.v1.Notes(address, credentials.createInsecure());
    try {
        const metadata = new Metadata();
        metadata.set("x-ask", "1");
        const seen = {};
        const reply = await new Promise((resolve, reject) => {
            const call = notes.say({ text: "hi", id: 7, data: Buffer.from([0, 255]), tags: ["a", "b"] }, metadata, (error, made) => (error ? reject(error) : resolve(made)));
            call.on("metadata", (head) => { seen.head = head.get("x-head")[0]; });
            call.on("status", ({ metadata: trailers }) => { seen.trail = trailers.get("x-trail")[0]; });
        });
        assert.deepEqual([reply.text, reply.id, [...reply.data], reply.tags], SAY.say);
        assert.deepEqual(seen, { head: "1", trail: "end" });
        const error = await new Promise((resolve) => { notes.say({ text: "refuse" }, resolve); });
        assert.deepEqual([error.code, error.details], [status.PERMISSION_DENIED, "no, grüße 100 %"]);
        const late = await new Promise((resolve) => { notes.say({ text: "slow" }, { deadline: Date.now() + 200 }, resolve); });
        assert.equal(late.code, status.DEADLINE_EXCEEDED);
        const counted = [];
        for await (const { id } of notes.count({})) counted.push(id);
        assert.deepEqual(counted, [0, 1, 2, 3, 4]);
        const joined = await new Promise((resolve, reject) => {
            const call = notes.join((failure, made) => (failure ? reject(failure) : resolve(made)));
            call.write({ text: "a" });
            call.write({ text: "b" });
            call.end();
        });
        assert.equal(joined.text, "a b");
        const talk = notes.talk();
        const said = [];
        talk.write({ text: "a" });
        for await (const { text } of talk) {
            said.push(text);
            if (said.length === 1) talk.write({ text: "b" });
            else talk.end();
        }
        assert.deepEqual(said, ["re: a", "re: b"]);
    } finally {
        notes.close();
    }
});

test("grpcio: every kind of call", needs(python), async () => {
    const { stdout, stderr } = await run(python, [join(here, "grpcio_client.py"), address, here]);
    assert.deepEqual(JSON.parse(stdout || `"${stderr}"`), {
        ...SAY,
        head: ["1", [0, 1, 255], "end"],
        refuse: ["PERMISSION_DENIED", "no, grüße 100 %", true],
        slow: "DEADLINE_EXCEEDED",
        gzip: true,
        count: [0, 1, 2, 3, 4],
        join: "a b",
        talk: ["re: a", "re: b"],
    });
});

test("curl: Connect by POST and by GET", needs("curl"), async () => {
    const url = `http://${address}/clients.v1.Notes/Say`;
    const post = await run("curl", ["-sS", "-H", "content-type: application/json", "-d", '{"text":"hi","id":"7"}', url]);
    assert.deepEqual(JSON.parse(post.stdout), { text: "re: hi", id: "7" }, post.stderr);
    const got = await run("curl", ["-sS", "-G", "--data-urlencode", 'message={"text":"hi"}', "-d", "encoding=json&connect=v1", url]);
    assert.deepEqual(JSON.parse(got.stdout), { text: "re: hi" }, got.stderr);
    const refused = await run("curl", ["-sS", "-w", "%{http_code}", "-H", "content-type: application/json", "-d", '{"text":"refuse"}', url]);
    assert.match(refused.stdout, /"code":"permission_denied".*403$/s);
});

test("connect-web in Chromium, from a page of another origin", { ...needs("chromium"), timeout: 120_000 }, async (t) => {
    const opened = await openPage(t);
    if (opened === undefined) return;
    for (const [protocol, options] of PAGE_PROTOCOLS) {
        assert.deepEqual(await opened.ask(`http://${address}`, protocol, options), PAGE_FOUND, `${protocol} ${JSON.stringify(options)}`);
    }
});
