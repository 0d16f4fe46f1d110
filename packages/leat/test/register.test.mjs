// `leat/register` in processes of its own: what it changes, in which kinds of modules and threads, and what it leaves.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const CHILD_MS_MAX = 30_000;

/** Runs Node in the package's folder, where `leat/…` names the package itself. */
function node(args, env = {}) {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", timeout: CHILD_MS_MAX, env: { ...process.env, ...env } });
    return { status, stdout, stderr };
}

/** What a program that ends well printed as JSON. */
function printed(args) {
    const { status, stdout, stderr } = node(args);
    assert.equal(status, 0, stderr);
    assert.equal(stderr, "");
    return JSON.parse(stdout);
}

const MAPPED = { "http.createServer": true, "http.Server": true, "https.createServer": true, "https.Server": true };

/** `report(http, https, leat, leats)` prints which of Node's names are Leat's. */
const report = `
    function report(http, https, leat, leats) {
        console.log(JSON.stringify({
            "http.createServer": http.createServer === leat.createServer,
            "http.Server": http.Server === leat.Server,
            "https.createServer": https.createServer === leats.createServer,
            "https.Server": https.Server === leats.Server,
        }));
    }`;
const leats = `require(${JSON.stringify(join(root, "dist", "http", "https.js"))})`;
const leat = `require(${JSON.stringify(join(root, "dist", "http", "server.js"))})`;
const commonjs = (prefix) => `${report} report(require("${prefix}http"), require("${prefix}https"), ${leat}, ${leats});`;
const esm = (imports) => `
    import { createRequire } from "node:module";
    ${imports}
    const require = createRequire(${JSON.stringify(join(root, "x.js"))});
    ${report}
    report(http, https, ${leat}, ${leats});`;

const named = 'import { createServer, Server } from "node:http"; import { createServer as secure, Server as Secure } from "node:https"; const http = { createServer, Server }, https = { createServer: secure, Server: Secure };';

const programs = [
    ["require('http') with --import", ["--import", "leat/register", "-e", commonjs("")]],
    ["require('node:http') with --import", ["--import", "leat/register", "-e", commonjs("node:")]],
    ["require('http') with --require", ["--require", "leat/register", "-e", commonjs("")]],
    ["a program that requires leat/register itself", ["-e", `require("leat/register"); ${commonjs("")}`]],
    ["default imports", ["--import", "leat/register", "--input-type=module", "-e", esm('import http from "http"; import https from "https";')]],
    ["namespace imports", ["--import", "leat/register", "--input-type=module", "-e", esm('import * as http from "node:http"; import * as https from "node:https";')]],
    ["named imports", ["--import", "leat/register", "--input-type=module", "-e", esm(named)]],
    ["named imports from before a program registers itself", ["--input-type=module", "-e", esm(`${named.split("const")[0]} import "leat/register"; const http = { createServer, Server }, https = { createServer: secure, Server: Secure };`)]],
    ["both flags and a require", ["--import", "leat/register", "--require", "leat/register", "-e", `require("leat/register"); ${commonjs("")}`]],
];

for (const [name, args] of programs) test(`maps the servers: ${name}`, () => assert.deepEqual(printed(args), MAPPED));

for (const flag of ["--import", "--require"]) {
    test(`maps the servers of a worker and of a forked process, which inherit ${flag}`, () => {
        const program = join(root, "test", "register", "started.cjs");
        assert.deepEqual(printed([flag, "leat/register", program]), { parent: true, worker: true, forked: true });
    });
}

// Node.js runs --import in a worker of a file or a data: URL, but not in one of a text (`eval: true`).
test("maps the servers of a worker of a text, which inherits --require", () => {
    const inside = JSON.stringify(commonjs("node:"));
    assert.deepEqual(printed(["--require", "leat/register", "-e", `new (require("node:worker_threads").Worker)(${inside}, { eval: true })`]), MAPPED);
});

test("maps the servers of a worker that registers itself, and of no other thread", () => {
    const inside = JSON.stringify(`require("leat/register"); ${commonjs("node:")}`);
    const outside = `
        const http = require("http"), { Server, createServer } = http;
        new (require("node:worker_threads").Worker)(${inside}, { eval: true }).on("exit", () => process.exit(http.Server === Server && http.createServer === createServer ? 0 : 9));`;
    assert.deepEqual(printed(["-e", outside]), MAPPED);
});

test("changes nothing but the servers", () => {
    const changed = printed([
        "-e",
        `const before = [{ ...require("http") }, { ...require("https") }];
        require("leat/register");
        const after = [require("http"), require("https")];
        console.log(JSON.stringify(after.map((module, at) => [...new Set([...Object.keys(module), ...Object.keys(before[at])])].filter((key) => module[key] !== before[at][key]).sort())));`,
    ]);
    assert.deepEqual(changed, [["Server", "createServer"], ["Server", "createServer"]]);
});

test("a second evaluation changes nothing more", () => {
    const same = `
        require("leat/register");
        const http = require("http"), { Server } = http;
        for (const key of Object.keys(require.cache)) delete require.cache[key];
        require("leat/register");
        console.log(http.Server === Server);`;
    assert.equal(printed(["-e", same]), true);
});

test("a second copy of the package changes nothing more", (t) => {
    const copy = mkdtempSync(join(tmpdir(), "leat-"));
    t.after(() => rmSync(copy, { recursive: true }));
    for (const part of ["dist", "package.json"]) cpSync(join(root, part), join(copy, part), { recursive: true });
    const addon = join(root, "native");
    if (existsSync(addon)) symlinkSync(addon, join(copy, "native"));
    const same = `
        const http = require("http"), { Server } = http;
        require(${JSON.stringify(join(copy, "dist", "register.js"))});
        console.log(http.Server === Server && Server === require("leat/http").Server);`;
    assert.equal(printed(["--import", "leat/register", "-e", same]), true);
});

test("a server without new is a server", () => {
    const program = 'const http = require("http"); const server = http.Server(() => {}); console.log(server instanceof http.Server && server.listenerCount("request") === 1)';
    assert.equal(printed(["--import", "leat/register", "-e", program]), true);
});

test("a server that a program makes answers a client that is still Node's", () => {
    const program = `
        const http = require("node:http");
        const server = http.createServer((request, response) => response.end(request.url + " " + (server instanceof require("leat/http").Server)));
        server.listen(0, "127.0.0.1", async () => {
            const reply = await new Promise((resolve) => http.get({ port: server.address().port, path: "/a", agent: false }, resolve));
            let text = "";
            for await (const chunk of reply) text += chunk;
            server.close(() => console.log(JSON.stringify(text)));
        });`;
    assert.equal(printed(["--import", "leat/register", "-e", program]), "/a true");
});

for (const [flag, evaluated] of [["--import", "-e"], ["--require", "-e"]]) {
    test(`${flag} without an addon fails before the program runs`, () => {
        const { status, stdout, stderr } = node([flag, "leat/register", evaluated, 'console.log("ran")'], { LEAT_ADDON: join(root, "nowhere.node") });
        assert.equal(status, 1);
        assert.match(stderr, /LEAT_ADDON names .*nowhere\.node, which is not there/);
        assert.match(stderr, /code: 'LEAT_ADDON_MISSING'/);
        assert.equal(stdout, "");
    });
}
