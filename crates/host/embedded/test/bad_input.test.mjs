// What `leat run` says of programs that can't run, and what becomes of it when a handler throws.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";
import { leat } from "./binary.mjs";

const RUN_MS_MAX = 20_000;
const folder = realpathSync(mkdtempSync(join(tmpdir(), "leat-bad-")));
test.after(() => rmSync(folder, { recursive: true }));

/** Starts `leat run` on the first of `files` (name → text); `line(prefix)` waits for a line of stdout, `exit` for the end. */
function program(files, ...args) {
    const home = mkdtempSync(join(folder, "app-"));
    for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(home, name)), { recursive: true });
        writeFileSync(join(home, name), text);
    }
    const child = spawn(leat, ["run", join(home, Object.keys(files)[0]), ...args], { env: { ...process.env, NODE_ENV: undefined }, stdio: ["ignore", "pipe", "pipe"], timeout: RUN_MS_MAX, killSignal: "SIGKILL" });
    const said = { stdout: "", stderr: "" };
    let touched = () => {};
    for (const name of ["stdout", "stderr"]) child[name].on("data", (bytes) => { said[name] += bytes; touched(); });
    const exit = new Promise((resolve) => void child.on("close", (code, signal) => resolve({ code: signal ?? code, ...said })));
    const line = (prefix) => new Promise((resolve, reject) => {
        touched = () => {
            const found = said.stdout.split("\n").slice(0, -1).find((each) => each.startsWith(prefix));
            if (found !== undefined) resolve(found.slice(prefix.length));
        };
        touched();
        void exit.then((end) => reject(new Error(`it ended: ${JSON.stringify(end)}`)));
    });
    return { child, exit, line, home, said };
}

function get(port, path = "/") {
    return new Promise((resolve, reject) => {
        http.get({ port, path, host: "127.0.0.1", agent: false }, (res) => {
            let body = "";
            res.on("data", (chunk) => void (body += chunk));
            res.on("end", () => resolve({ status: res.statusCode, body, headers: res.headers }));
        }).on("error", reject);
    });
}

const SYNTAX = [
    ["app.cjs", "const a = 1;\n\nconst b = ;\n", /app\.cjs:3:?/, "const b = ;"],
    ["app.mjs", "const a = 1;\nexport { missing ;\n", /app\.mjs:2:?/, "export { missing ;"],
    ["app.js", "module.exports = {\n  a: 1,\n  b 2,\n};\n", /app\.js:3:?/, "  b 2,"],
    ["app.ts", "const a: number = 1;\nconst b: = 2;\n", /app\.ts:2:?/, "const b: = 2;"],
];
for (const [name, text, place, line] of SYNTAX) {
    test(`a syntax error in ${name}: its place and its line`, async () => {
        const { code, stderr, stdout } = await program({ [name]: text }).exit;
        assert.equal(code, 1, stderr);
        assert.equal(stdout, "");
        assert.match(stderr, place);
        assert.ok(stderr.includes(line), stderr);
        assert.match(stderr, /SyntaxError/);
    });
}

test("a syntax error in a module that is required: its own place", async () => {
    const { code, stderr } = await program({ "app.cjs": 'require("./lib/other");\n', "lib/other.js": "let x = 1;\nlet x = 2;\n" }).exit;
    assert.equal(code, 1);
    assert.match(stderr, /lib\/other\.js:2/);
});

const MISSING = [
    ["app.cjs", 'require("./absent");', "./absent"],
    ["app.cjs", 'require("no-such-package");', "no-such-package"],
    ["app.mjs", 'import "./absent.mjs";', "absent.mjs"],
    ["app.mjs", 'import x from "no-such-package";', "no-such-package"],
    ["app.mjs", 'await import("no-such-package");', "no-such-package"],
];
for (const [name, text, missing] of MISSING) {
    test(`a missing module: its name and who asked: ${text}`, async () => {
        const { code, stderr } = await program({ [name]: text }).exit;
        assert.equal(code, 1, stderr);
        assert.ok(stderr.includes(missing), stderr);
        assert.ok(stderr.includes(name), stderr);
    });
}

test("a missing module deep inside: who asked is the module that did", async () => {
    const { code, stderr } = await program({ "app.cjs": 'require("./middle");', "middle.js": 'require("no-such-package");' }).exit;
    assert.equal(code, 1);
    assert.match(stderr, /middle\.js/);
});

test("a program that is not there", async () => {
    const { code, stderr } = await program({ "app.cjs": "", }, "unused").exit;
    assert.equal(code, 0, stderr);
    const child = spawn(leat, ["run", join(folder, "absent.js")], { timeout: RUN_MS_MAX });
    let said = "";
    child.stderr.on("data", (bytes) => void (said += bytes));
    const ended = await new Promise((resolve) => void child.on("close", resolve));
    assert.ok(ended === 1 || ended === 2, `code ${ended}`);
    assert.match(said, /absent\.js/);
});

const EXPRESS = 'const express = require("express");\nconst app = express();\n';

test("a busy port: exit 1, and which it is", async () => {
    const other = http.createServer();
    await new Promise((resolve) => void other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address();
    for (const listen of [`require("node:http").createServer().listen(${port}, "127.0.0.1");`, `${EXPRESS}app.listen(${port}, "127.0.0.1", (error) => { if (error) throw error; });`]) {
        const { code, stderr } = await program({ "app.cjs": listen }).exit;
        assert.equal(code, 1, stderr);
        assert.ok(stderr.includes(`listen EADDRINUSE: address already in use 127.0.0.1:${port}`), stderr);
    }
    other.close();
});

test("a handler that throws: Express's 500, and the process lives", async () => {
    const { line, child, exit, said } = program({
        "app.cjs": `${EXPRESS}app.get("/throws", () => { throw new Error("thrown"); });
app.get("/rejects", async () => { throw new Error("rejected"); });
app.get("/later", (req, res, next) => setTimeout(() => next(new Error("later")), 1));
app.get("/status", () => { throw Object.assign(new Error("teapot"), { status: 418 }); });
app.get("/fine", (req, res) => res.send("fine"));
const server = app.listen(0, "127.0.0.1", () => console.log("port " + server.address().port));\n`,
    });
    const port = Number(await line("port "));
    for (const [path, status, text] of [["/throws", 500, "Error: thrown"], ["/rejects", 500, "Error: rejected"], ["/later", 500, "Error: later"], ["/status", 418, "Error: teapot"]]) {
        const reply = await get(port, path);
        assert.equal(reply.status, status);
        assert.ok(reply.body.includes(text), reply.body);
        assert.equal((await get(port, "/fine")).body, "fine");
        assert.ok(said.stderr.includes(text), said.stderr);
    }
    child.kill();
    await exit;
});

test("a body that is no JSON: 400 with a SyntaxError, at once and in pieces", async () => {
    const { line, child, exit } = program({
        "app.cjs": `${EXPRESS}app.use(express.json());
app.post("/", (req, res) => res.json(req.body));
app.use((error, req, res, next) => res.status(error.status).json({ name: error.name, type: error.type, body: error.body }));
const server = app.listen(0, "127.0.0.1", () => console.log("port " + server.address().port));\n`,
    });
    const port = Number(await line("port "));
    const post = (pieces) => new Promise((resolve, reject) => {
        const req = http.request({ port, host: "127.0.0.1", agent: false, method: "POST", headers: { "Content-Type": "application/json" } }, (res) => {
            let text = "";
            res.on("data", (chunk) => void (text += chunk));
            res.on("end", () => resolve({ status: res.statusCode, ...JSON.parse(text) }));
        });
        req.on("error", reject);
        for (const piece of pieces.slice(0, -1)) req.write(piece);
        req.end(pieces.at(-1));
    });
    const wrong = { status: 400, name: "SyntaxError", type: "entity.parse.failed" };
    assert.deepEqual(await post(['{"a":x}']), { ...wrong, body: '{"a":x}' });
    assert.deepEqual(await post(['{"a":', "1"]), { ...wrong, body: '{"a":1' });
    assert.deepEqual(await post(['{"a":', "1}"]), { status: 200, a: 1 });
    child.kill();
    await exit;
});

test("a handler of node:http that throws ends the process, as on Node", async () => {
    const { line, exit } = program({
        "app.cjs": 'const server = require("node:http").createServer(() => { throw new Error("thrown"); }).listen(0, "127.0.0.1", () => console.log("port " + server.address().port));',
    });
    await get(Number(await line("port "))).catch(() => {});
    const { code, stderr } = await exit;
    assert.equal(code, 1);
    assert.match(stderr, /Error: thrown/);
    assert.match(stderr, /app\.cjs:1/);
});
