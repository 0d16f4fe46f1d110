// What `npm pack` puts into the package: everything that its entries need, and nothing else.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { bin, dependencies, exports } = createRequire(import.meta.url)("../package.json");
const CHILD_MS_MAX = 60_000;

function run(program, args, options) {
    const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", timeout: CHILD_MS_MAX, ...options });
    assert.equal(error, undefined);
    assert.equal(status, 0, stderr);
    return stdout;
}

const packed = JSON.parse(run("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root }));
const files = packed[0].files.map(({ path }) => path).sort();

test("has the entries, the files of all modules, and declarations", () => {
    const code = files.filter((path) => !path.endsWith(".d.ts") && !path.endsWith(".node"));
    assert.deepEqual(code, [
        "LICENSE",
        "README.md",
        "dist/bin.js",
        "dist/express/index.js",
        "dist/express/v4/index.js",
        "dist/gateway/index.js",
        "dist/http/index.js",
        "dist/leat.js",
        "dist/leat_transport.js",
        "dist/middleware/index.js",
        "dist/register.js",
        "dist/register/resolve.js",
        "dist/rpc/index.js",
        "dist/transport/index.js",
        "dist/transport/kit/index.js",
        "package.json",
    ].filter((path) => path !== "LICENSE" || files.includes("LICENSE")));
});

test("has every file that package.json names", () => {
    const named = [bin.leat, ...Object.values(exports).flatMap((target) => (typeof target === "string" ? target : Object.values(target)))];
    assert.deepEqual(named.map((path) => path.replace("./", "")).filter((path) => !files.includes(path)), []);
});

test("works without the rest of the repository, as do its declarations", (t) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "leat-")));
    t.after(() => rmSync(folder, { recursive: true }));
    const modules = join(folder, "node_modules");
    for (const path of files.filter((each) => !each.endsWith(".node"))) {
        mkdirSync(dirname(join(modules, "leat", path)), { recursive: true });
        cpSync(join(root, path), join(modules, "leat", path));
    }
    if (process.env.LEAT_ADDON === undefined) symlinkSync(join(root, "native"), join(modules, "leat", "native"));
    // What it depends on, with all that those depend on, and no development packages of note.
    for (const name of readdirSync(join(root, "node_modules"))) if (name !== "leat") symlinkSync(join(root, "node_modules", name), join(modules, name));
    for (const name of Object.keys(dependencies)) assert.ok(readdirSync(modules).includes(name.split("/")[0]), name);

    const program = `for (const name of ["leat/http", "leat/express", "leat/express4", "leat/gateway", "leat/middleware", "leat/register", "leat/transport", "leat/transport/kit"]) require(name);
        const app = require("leat/express")(); app.get("/", (req, res) => res.json({ express: require("express") === require("leat/express") }));
        const server = app.listen(0, "127.0.0.1", () => require("http").get({ port: server.address().port, agent: false }, async (reply) => {
            for await (const chunk of reply) process.stdout.write(chunk);
            server.close();
        }));`;
    writeFileSync(join(folder, "app.cjs"), program);
    assert.equal(run(process.execPath, ["app.cjs"], { cwd: folder }), '{"express":true}');

    writeFileSync(join(folder, "types.mts"), 'import { createServer, https } from "leat/http";\nimport "leat/register";\nimport express from "leat/express";\nimport { compile } from "leat/middleware";\nimport { retry, Transport } from "leat/transport";\nimport { VirtualClock } from "leat/transport/kit";\nexport const made = [createServer(), https.createServer({ cert: "", key: "" }), express(), compile([]), new Transport({ nodes: "http://127.0.0.1", middleware: [retry()], clock: new VirtualClock() })];\n');
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: { strict: true, noEmit: true, module: "nodenext", target: "ES2022", types: ["node"] }, include: ["types.mts"] }));
    assert.equal(run(process.execPath, [join(root, "node_modules", "typescript", "bin", "tsc"), "--project", folder], { cwd: folder }), "");
});
