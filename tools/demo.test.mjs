// The apps that `leat demo` starts, on Node.js and by itself: every line that it prints works, they go with the demo, and where
// those on Node.js cannot be started one line says why.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { events } from "../examples/node-http/test/started.mjs";
import { binary, temporary } from "../conformance/gateway.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const LEAT_PACKAGE = join(root, "packages", "leat");
const TEST_MS_MAX = 60_000;
const CURL_SECONDS_MAX = 5;
/** What curl exits with when its time is over. */
const CURL_TIME = 28;
const options = { timeout: TEST_MS_MAX };

/** A demo until the test ends: the `lines` of its introduction, and its `child`. */
async function demo(t, env = {}) {
    const folder = temporary();
    // The running Node.js is the one that the demo finds.
    const bin = join(folder.path, "bin");
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, "node"));
    const child = spawn(binary, ["demo", "--listen", "127.0.0.1:0"], {
        env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, TMPDIR: folder.path, LEAT_PACKAGE, ...env },
        stdio: ["ignore", "pipe", "ignore"],
    });
    t.after(async () => {
        if (child.exitCode === null && child.signalCode === null) {
            child.kill("SIGKILL");
            await once(child, "exit");
        }
        folder.remove();
    });
    const lines = [];
    for await (const line of createInterface({ input: child.stdout })) {
        if (line.startsWith("Ctrl-C")) break;
        lines.push(line);
    }
    const base = /^A Node\.js app .* on (http:\S+)/.exec(lines.find((line) => line.startsWith("A Node.js app")) ?? "")?.[1];
    return { lines, child, folder: folder.path, base };
}

/** Tries the lines that a demo shows for the app at `base`: what each begins its path with, and what its answer holds. */
function tryLines(lines, base, heads) {
    const tried = lines.filter((line) => line.includes(base) && line.startsWith("  curl "));
    assert.equal(tried.length, heads.length);
    for (const [at, line] of tried.entries()) {
        const [mark, wanted] = heads[at];
        assert.ok(line.includes(mark), line);
        const command = line.trim().split("   ")[0].replace("curl", `curl -sS --max-time ${mark === "/events" ? 1 : CURL_SECONDS_MAX}`);
        const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
        assert.equal(status, mark === "/events" ? CURL_TIME : 0, `${command}\n${stderr}`);
        assert.ok(stdout.includes(wanted), `${command}\n${stdout}`);
    }
}

test("every line for the Node.js apps works", options, async (t) => {
    const { lines, base } = await demo(t);
    tryLines(lines, base, [
        ["/notes -d", "HTTP/1.1 201 Created"],
        ["/notes ", '[{"id":1,"text":"milk"}]'],
        ["/files/", '"name":"demo.yaml"'],
        ["/events", ": welcome"],
        ["/metrics", "leat_gc_pause_seconds_count"],
    ]);
    const [, links] = /^An Express app .* on (http:\S+)/.exec(lines.find((line) => line.startsWith("An Express app")));
    tryLines(lines, links, [
        ["/api/links --json", "HTTP/1.1 201 Created"],
        ["/mill", "Location: https://example.com/"],
        ["/api/links ", '"followed": 1'],
    ]);
    assert.match(await (await fetch(links)).text(), /<h1>Short links/);
});

test("every line for the shop works, whose calls go out through leat/transport", options, async (t) => {
    const { lines } = await demo(t);
    const [, shop] = /^A shop .* on (http:\S+)/.exec(lines.find((line) => line.startsWith("A shop")));
    tryLines(lines, shop, [
        ["/items/flour", '"grams":1000'],
        ["/order/bran", '"number":1'],
        ["/stats", '"calls":2,"tries":3,"tokens":1,"busy":1,"orders":1'],
    ]);
});

test("the shop ends with the demo", options, async (t) => {
    const { lines, child } = await demo(t);
    const [, shop] = /^A shop .* on (http:\S+)/.exec(lines.find((line) => line.startsWith("A shop")));
    const { hostname, port } = new URL(shop);
    const socket = connect({ host: hostname, port: Number(port) });
    await once(socket, "connect");
    child.kill("SIGKILL");
    await new Promise((done) => socket.resume().on("error", () => {}).once("close", done));
    await assert.rejects(fetch(`${shop}/stats`));
});

test("a Node.js that is too old for leat/transport runs the other apps, and one line says so", options, async (t) => {
    const folder = temporary();
    t.after(folder.remove);
    const old = join(folder.path, "old.cjs");
    writeFileSync(old, 'Object.defineProperty(process.versions, "node", { value: "20.9.0" });\n');
    const { lines, base } = await demo(t, { NODE_OPTIONS: `--require ${old}` });
    assert.equal((await fetch(`${base}/notes`)).status, 200);
    assert.match(lines.find((line) => line.startsWith("No shop")), /^No shop on leat\/transport: .*runs on Node\.js 20\.18\.1 and newer, and this is 20\.9\.0/);
});

/** The address of the app that runs without Node.js. */
const noticesOf = (lines) => /^An Express app in TypeScript .* on (http:\S+)/.exec(lines.find((line) => line.startsWith("An Express app in TypeScript")))[1];

test("every line for the app without Node.js works, on a machine without Node.js too", options, async (t) => {
    const { lines } = await demo(t, { PATH: "/nonexistent" });
    tryLines(lines, noticesOf(lines), [
        ["/notices --json", "HTTP/1.1 201 Created"],
        ["/notices ", '[{"id":1,"text":"the mill is open"'],
    ]);
});

for (const signal of ["SIGTERM", "SIGINT", "SIGKILL"]) {
    test(`the app without Node.js ends with the demo, by ${signal}`, options, async (t) => {
        const { lines, child } = await demo(t);
        const { hostname, port } = new URL(noticesOf(lines));
        const socket = connect({ host: hostname, port: Number(port) });
        await once(socket, "connect");
        child.kill(signal);
        // Nothing was asked on it, so that only the end of the app closes it.
        await new Promise((done) => socket.resume().on("error", () => {}).once("close", done));
        await assert.rejects(fetch(`http://${hostname}:${port}/notices`));
    });

    test(`the Node.js app ends with the demo, by ${signal}`, options, async (t) => {
        const { base, child } = await demo(t);
        const heard = await events(`${base}/events`);
        assert.equal(await heard.next(), ": welcome");
        child.kill(signal);
        // The events of an orphan would never end.
        await heard.next().catch(() => undefined);
        await assert.rejects(fetch(`${base}/notes`));
        if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
        assert.equal(child.signalCode, signal === "SIGKILL" ? signal : null);
    });
}

test("a demo that ended by itself leaves no files", options, async (t) => {
    const { child, folder, base } = await demo(t);
    await fetch(`${base}/files/one`, { method: "PUT", body: "one" });
    child.kill("SIGTERM");
    await once(child, "exit");
    assert.deepEqual(readdirSync(folder), ["bin"]);
});

/** A folder with a program that is called `node`. */
function impostor(t, text) {
    const folder = temporary();
    t.after(folder.remove);
    writeFileSync(join(folder.path, "node"), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder.path, "node"), 0o755);
    return folder.path;
}

const missing = [
    ["no Node.js", () => ({ PATH: "/nonexistent" }), /there is no `node` on the PATH; it needs Node\.js 20 or newer/],
    ["an old Node.js", (t) => ({ PATH: impostor(t, "echo v18.20.1") }), /"v18\.20\.1"; it needs Node\.js 20 or newer/],
    ["a Node.js that fails", (t) => ({ PATH: impostor(t, '[ "$1" = --version ] && echo v20.1.0') }), /it ended at once/],
    ["no package", () => ({ LEAT_PACKAGE: "/nonexistent" }), /no built npm package at \/nonexistent; run `make build`/],
    ["no addon", () => ({ LEAT_ADDON: "/nonexistent/leat.node" }), /AddonError: LEAT_ADDON names \/nonexistent\/leat\.node, which is not there/],
];

for (const [what, env, sentence] of missing) {
    test(`${what}: one line says so, and the rest of the demo runs`, options, async (t) => {
        const { lines, child } = await demo(t, env(t));
        const said = lines.filter((line) => line.includes("Node.js") && !line.includes("without Node.js"));
        assert.equal(said.length, 1);
        assert.match(said[0], /^No Node\.js app: /);
        assert.match(said[0], sentence);
        const gateway = /a gateway on (\S+)/.exec(lines.join("\n"))[1];
        assert.equal(await (await fetch(`http://${gateway}/hello`)).text(), "Hello from Leat\n");
        assert.equal(child.exitCode, null);
    });
}
