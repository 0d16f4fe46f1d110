import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { leat } from "../../../crates/host/embedded/test/binary.mjs";

const folder = fileURLToPath(new URL("..", import.meta.url));
let app;
let base;

before(async () => {
    const env = { ...process.env, PORT: "0", HOST: "127.0.0.1", NODE_TEST_CONTEXT: undefined };
    app = spawn(leat, ["run", "server.ts"], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
    app.on("error", (error) => assert.fail(String(error)));
    const [line] = await once(createInterface(app.stdout), "line", { signal: AbortSignal.timeout(10_000) });
    base = line.slice(line.indexOf("http://"));
});

after(() => app.kill("SIGKILL"));

const put = (text) => fetch(`${base}/notices`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ text }) });

test("a notice that was put up is there", async () => {
    const made = await put("the mill is open");
    assert.equal(made.status, 201);
    const notice = await made.json();
    assert.deepEqual(await (await fetch(`${base}/notices/${notice.id}`)).json(), notice);
    const [newest] = await (await fetch(`${base}/notices`)).json();
    assert.deepEqual(newest, notice);
});

test("what is no text is refused", async () => {
    for (const text of [7, "", "x".repeat(201), undefined]) assert.equal((await put(text)).status, 400, String(text));
    const broken = await fetch(`${base}/notices`, { method: "POST", headers: { "content-type": "application/json" }, body: "{" });
    assert.equal(broken.status, 400);
});

test("what is not there is 404", async () => {
    assert.equal((await fetch(`${base}/notices/999`)).status, 404);
    assert.equal((await fetch(`${base}/elsewhere`)).status, 404);
});

test("SIGTERM ends it with 0", async () => {
    app.kill("SIGTERM");
    const [code, signal] = await once(app, "exit", { signal: AbortSignal.timeout(15_000) });
    assert.deepEqual([code, signal], [0, null]);
});
