import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { test } from "node:test";
import { start as startEcho } from "./echo.mjs";
import { exchange } from "./exchange.mjs";
import { explain } from "./explained.mjs";
import { judge } from "./passed.mjs";
import { replay } from "./replay.mjs";
import { parse } from "./reply.mjs";
import { compare } from "./responses.mjs";
import { expected, observed } from "./verdict.mjs";

const reply = (status, seen) => ({ status, seen });
const accept = (accept = {}) => ({ accept });

test("what a subject did is said in the words of the corpus", () => {
    const cases = [
        ["a reply", { replies: [reply(200)], closed: false }, [accept()], "accept"],
        ["a refusal", { replies: [reply(400)], closed: true }, [{ refuse: "head.bare_lf" }], "refuse"],
        ["an end without a reply", { replies: [], closed: true }, [{ refuse: "head.bare_lf" }], "refuse"],
        ["silence", { replies: [], closed: false }, [{ incomplete: true }], "wait"],
        ["an end between requests", { replies: [], closed: true }, [], ""],
        ["a refusal in place of a reply", { replies: [reply(400)], closed: true }, [accept(), accept()], "refuse"],
        ["a reply too many", { replies: [reply(200), reply(200)], closed: false }, [accept()], "accept,accept"],
        ["another method", { replies: [reply(200, { method: "GET", target: "/" })], closed: false }, [accept({ method: "POST" })], "misread"],
        ["another body", { replies: [reply(200, { method: "GET", target: "/", sha1: "x" })], closed: false }, [accept({ body: "hi" })], "misread"],
        ["another path", { replies: [reply(200, { method: "GET", target: "/b" })], closed: false }, [accept({ path: "/a", query: null })], "misread"],
        ["a path of an absolute target", { replies: [reply(200, { method: "GET", target: "/a?b" })], closed: false }, [accept({ path: "/a", query: "b" })], "accept"],
    ];
    for (const [name, result, outcome, words] of cases) assert.equal(observed(result, outcome).join(), words, name);
    assert.deepEqual(expected([accept(), { incomplete: true }]), ["accept", "wait"]);
});

test("a difference without a rule and a rule without a difference are both found", () => {
    const rules = [
        { subject: "nginx", why: "one", cases: ["a.*", "b.x"] },
        { subject: "nginx", why: "two", cases: ["a.y"] },
        { subject: "node", why: "three", cases: ["c"] },
    ];
    const differences = ["a.y", "a.z", "aXz", "d"].map((name) => ({ name }));
    const { rules: used, unexplained, unused } = explain("nginx", differences, rules);
    assert.deepEqual(used.map(({ why }) => why), ["one"]);
    assert.deepEqual(unexplained.map(({ name }) => name), ["aXz", "d"]);
    assert.deepEqual(unused, ["b.x", "a.y"]);
});

test("the echo says what it saw, chunked or not, and reads on behind it", async () => {
    const echo = await startEcho();
    const sent = "POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\nhiHEAD /b HTTP/1.1\r\n\r\nPUT /\xe9 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n";
    const { replies } = await exchange(echo.port, [Buffer.from(sent, "latin1")], { enough: 3 });
    echo.close();
    assert.deepEqual(replies.map(({ seen }) => [seen.method, seen.target, seen.bytes]), [["POST", "/a", 2], ["HEAD", "/b", 0], ["PUT", "/\xe9", 3]]);
});

test("a replay finds a server that answers what it should refuse, at any cut", async () => {
    const server = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const one = (name, text, outcome) => ({ name, bytes: Buffer.from(text), eof: false, compatible: outcome });
    const cases = [
        one("good", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", [accept()]),
        one("refused", "GET / HTTP/1.1\r\nX : y\r\n\r\n", [{ refuse: "head.space_before_colon" }]),
        one("taken", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", [{ refuse: "host.invalid" }]),
        one("waits", "GET / HT", [{ incomplete: true }]),
    ];
    const statuses = new Map([["host.invalid", 400], ["head.space_before_colon", 400]]);
    const { exchanges, failures } = await replay(server.address().port, cases, "compatible", statuses);
    server.closeAllConnections();
    server.close();
    const wrong = new Set(failures.map(({ name }) => name));
    assert.deepEqual([...wrong], ["taken"]);
    assert.equal(failures.length, cases[2].bytes.length, "the whole and every cut");
    assert.ok(exchanges > 80);
});

test("what went behind the gateway is compared with the corpus", () => {
    const seen = (method, target) => ({ method, target, sha1: "" });
    const refused = { refuse: "head.bare_lf" };
    const cases = [
        ["the request", [seen("GET", "/a")], 0, [accept({ method: "GET" })], true],
        ["a request too many", [seen("GET", "/a"), seen("GET", "/b")], 0, [accept()], false],
        ["none", [], 0, [accept()], false],
        ["another one", [seen("GET", "/a")], 0, [accept({ method: "PUT" })], false],
        ["one that was refused", [seen("GET", "/a")], 0, [refused], false],
        ["a part of one that was refused", [], 3, [refused], false],
        ["a part of one whose body was refused", [], 3, [{ refuse: ["chunk.size_invalid"] }], true],
        ["one that the handler may answer", [], 0, [accept({ any: true })], true],
        ["one before a refusal", [seen("GET", "/a")], 0, [accept(), refused], true],
    ];
    for (const [name, requests, strayBytes, outcome, agrees] of cases) assert.equal(judge({ requests, strayBytes }, outcome) === undefined, agrees, name);
});

test("replies are read strictly, and compared with what the upstream sent", () => {
    const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    const cut = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n";
    const bad = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n";
    const hi = { accept: { status: 200, body: "hi" } };
    const cases = [
        ["the body", ok, false, [hi], true],
        ["a body in chunks", `${cut}0\r\n\r\n`, false, [hi], true],
        ["a body that is cut", cut, true, [hi], false],
        ["more than one reply", ok + ok, false, [hi], false],
        ["an interim reply before", `HTTP/1.1 103 X\r\n\r\n${ok}`, false, [{ accept: { status: 103 } }, hi], true],
        ["an interim reply that is missing", ok, false, [{ accept: { status: 103 } }, hi], false],
        ["a refusal", bad, false, [{ refuse: "head.bare_lf" }], true],
        ["a cut in place of a refusal", cut, true, [{ refuse: "chunk.size_invalid" }], true],
        ["a whole reply in place of a refusal", ok, true, [{ refuse: "chunk.size_invalid" }], false],
        ["silence", "", false, [{ incomplete: true }], true],
        ["an end in place of silence", "", true, [{ incomplete: true }], false],
    ];
    for (const [name, text, closed, outcome, agrees] of cases) {
        const difference = compare(parse(Buffer.from(text, "latin1"), "GET"), closed, outcome);
        assert.equal(difference === undefined, agrees, `${name}: ${JSON.stringify(difference)}`);
    }
});
