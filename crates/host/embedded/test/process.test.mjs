// `leat run` as a process: workers, signals, changed files, variables.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import test from "node:test";
import { ask, folder, start } from "./started.mjs";

const serve = (body, more = "") => `
require("node:http").createServer((request, response) => { ${body} }).listen(0, "127.0.0.1", function () { console.log("listening " + this.address().port); });
${more}`;

test("workers share a port, and each has a number", async (t) => {
    const cwd = folder(t, { "app.cjs": serve("response.setHeader('connection', 'close'); response.end(process.env.LEAT_WORKER);") });
    const { port, line, seen } = start(t, cwd, ["app.cjs", "--workers", "3"]);
    const at = await port();
    await line(/(listening \d+\s+){3}/);
    assert.equal(new Set(seen.stdout.match(/\d+/g)).size, 1, seen.stdout);
    const workers = new Set();
    for (let i = 0; i < 200 && workers.size < 3; i += 1) workers.add((await ask(at)).text);
    assert.deepEqual([...workers].sort(), ["0", "1", "2"]);
});

test("a worker that ends with an error ends the process", async (t) => {
    const cwd = folder(t, { "app.cjs": serve("response.end();", "if (process.env.LEAT_WORKER === '1') setTimeout(() => { throw new Error('one is ill'); }, 10);") });
    const { code, stderr } = await start(t, cwd, ["app.cjs", "--workers", "2"]).ended;
    assert.equal(code, 1);
    assert.match(stderr, /one is ill/);
});

test("a busy port ends it with 1", async (t) => {
    const busy = createServer().listen(0, "127.0.0.1");
    await once(busy, "listening");
    t.after(() => busy.close());
    const cwd = folder(t, { "app.cjs": `require("node:http").createServer().listen(${busy.address().port}, "127.0.0.1");` });
    const { code, stderr } = await start(t, cwd, ["app.cjs"]).ended;
    assert.equal(code, 1);
    assert.match(stderr, /EADDRINUSE/);
});

for (const signal of ["SIGTERM", "SIGINT"]) {
    test(`${signal} lets what is under way end, and ends with 0`, async (t) => {
        const cwd = folder(t, { "app.cjs": serve("console.log('asked'); setTimeout(() => response.end('late'), 300);", "process.on('exit', (code) => console.log('exit', code));") });
        const { child, port, line, ended } = start(t, cwd, ["app.cjs"]);
        const at = await port();
        const reply = ask(at);
        await line(/asked/);
        child.kill(signal);
        assert.deepEqual(await reply, { status: 200, text: "late" });
        const { code, stdout } = await ended;
        assert.deepEqual([code, stdout.endsWith("exit 0\n")], [0, true], stdout);
        assert.equal((await ask(at)).text, "ECONNREFUSED");
    });
}

test("a second signal ends it at once", async (t) => {
    const cwd = folder(t, { "app.cjs": serve("console.log('asked');") });
    const { child, port, line, ended } = start(t, cwd, ["app.cjs"]);
    const reply = ask(await port());
    await line(/asked/);
    child.kill("SIGTERM");
    await new Promise((resolve) => {
        const again = setInterval(() => child.kill("SIGINT"), 20);
        void ended.then(() => (clearInterval(again), resolve()));
    });
    assert.equal((await ended).code, 0);
    assert.equal((await reply).status, 0);
});

test("a program that listens for a signal decides", async (t) => {
    const cwd = folder(t, { "app.cjs": serve("response.end('alive');", "process.on('SIGTERM', () => console.log('heard'));") });
    const { child, port, line } = start(t, cwd, ["app.cjs"]);
    const at = await port();
    child.kill("SIGTERM");
    await line(/heard/);
    assert.equal((await ask(at)).text, "alive");
});

test("a program that does not listen dies by the signal", async (t) => {
    const { child, line, ended } = start(t, folder(t, { "app.cjs": "console.log('up'); setInterval(() => {}, 1000);" }), ["app.cjs"]);
    await line(/up/);
    child.kill("SIGTERM");
    assert.equal((await ended).signal, "SIGTERM");
});

test("a change starts the program again, and no connection is refused", async (t) => {
    const cwd = folder(t, { "app.cjs": serve("response.end('one');") });
    const { port, line } = start(t, cwd, ["app.cjs", "--watch"]);
    const at = await port();
    assert.equal((await ask(at)).text, "one");
    writeFileSync(join(cwd, "app.cjs"), "this is no JavaScript");
    await line(/waiting for a change/);
    const waits = connect(at, "127.0.0.1");
    await once(waits, "connect");
    waits.destroy();
    const reply = ask(at);
    writeFileSync(join(cwd, "app.cjs"), serve("response.end('two');"));
    assert.deepEqual(await reply, { status: 200, text: "two" });
});

test("variables come from files, and what the process has stays", async (t) => {
    const cwd = folder(t, {
        "app.cjs": "const { A, B, C, PORT, LEAT_WORKER } = process.env; console.log(JSON.stringify([A, B, C, PORT, LEAT_WORKER, process.argv.slice(2)]));",
        "one.env": "A=one\nB=one\nC=one\n",
        "two.env": 'export B="two # whole"\n',
    });
    const args = ["app.cjs", "--env-file", "one.env", "--env-file", "two.env", "--port", "3001", "--", "--port", "5"];
    const { code, stdout } = await start(t, cwd, args, { C: "mine" }).ended;
    assert.deepEqual([code, JSON.parse(stdout)], [0, ["one", "two # whole", "mine", "3001", "0", ["--port", "5"]]]);
});

test("--port is where a server without a port listens", async (t) => {
    const [first, second] = await Promise.all([0, 0].map(async () => {
        const server = createServer().listen(0, "127.0.0.1");
        await once(server, "listening");
        const { port } = server.address();
        server.close();
        await once(server, "close");
        return port;
    }));
    const cwd = folder(t, { "app.cjs": serve("response.end(process.env.PORT);") });
    const { port } = start(t, cwd, ["app.cjs"], { LEAT_PORT: String(first) });
    assert.equal(await port(), first);
    assert.equal((await ask(first)).text, String(first));
    const other = start(t, cwd, ["app.cjs", "--port", String(second)]);
    assert.equal(await other.port(), second);
});

test("bad usage ends with 2 and says what to write", async (t) => {
    const cwd = folder(t, { "app.cjs": "" });
    const table = [
        [["--memory", "lots"], /64MB, 512KiB or 1GB/],
        [["--memory", "1MB"], /write at least 8MB/],
        [["--workers", "0"], /1\.\.=256/],
        [["--on-error", "ignore"], /exit, log/],
        [["--metrics", "here"], /127\.0\.0\.1:8080/],
        [["--env-file", "none.env"], /none\.env/],
        [["--port", "99999"], /--port/],
    ];
    for (const [args, expected] of table) {
        const { code, stderr } = await start(t, cwd, [...args, "app.cjs"]).ended;
        assert.equal(code, 2, args.join(" "));
        assert.match(stderr, expected);
    }
});
