// The declarations of leat/http: a strict TypeScript program that compiles with node:http's, compiles with Leat's, and runs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { WebSocket } from "ws";
import { startApp } from "../app.mjs";
import { suite } from "../suite.mjs";
import { folder } from "../targets.mjs";

const COMPILE_MS = 60_000;
const OPTIONS = { strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, skipLibCheck: true, target: "es2022", module: "nodenext", types: ["node"] };
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

/** Compiles the program for `name` below node_modules, where its imports resolve; gives its path from this folder. */
function compile(name) {
    const out = join("node_modules", ".types", name.replace(/\W/g, "-"));
    mkdirSync(join(folder, out), { recursive: true });
    writeFileSync(join(folder, out, "package.json"), '{"type":"module"}');
    writeFileSync(join(folder, out, "tsconfig.json"), JSON.stringify({ compilerOptions: OPTIONS, files: ["app.ts"] }));
    writeFileSync(join(folder, out, "app.ts"), readFileSync(join(folder, "types", "app.ts"), "utf8").replaceAll('"leat/http"', JSON.stringify(name)));
    try {
        execFileSync(process.execPath, [tsc, "--project", join(folder, out)], { encoding: "utf8", timeout: COMPILE_MS });
    } catch (error) {
        assert.fail(`tsc: ${error.stdout || error.message}`);
    }
    return join(out, "app.js");
}

suite("typescript", ({ name, it }) => {
    it("compiles and runs: own classes, Fastify, ws", async (context) => {
        const peer = await startApp({ server: name, args: [] }, compile(name), context);
        const { request, reply, same, from } = (await peer.get("/classes", { "x-list": "1" })).json;
        assert.deepEqual({ request, reply, same, from }, { request: true, reply: true, same: true, from: "127.0.0.1" });
        const status = await peer.get("/status");
        assert.deepEqual([status.status, status.headers["x-methods"]], [418, "many"]);
        const socket = new WebSocket(`ws://127.0.0.1:${peer.port}/why`);
        const [code, reason] = await once(socket, "close");
        assert.deepEqual([code, String(reason)], [1000, "/why"]);
        assert.match(await peer.raw("nonsense\r\n\r\n"), /\r\n\r\nHPE_INVALID_METHOD$/);
    });
});
