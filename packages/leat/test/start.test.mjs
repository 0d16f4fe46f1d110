// What starting an app loads. Files and parts of Node.js are counted, since times depend on the machine.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const cwd = fileURLToPath(new URL("..", import.meta.url));
const CHILD_MS_MAX = 30_000;

/** Files and parts of Node that are loaded when an app has answered its first request, from a client of raw bytes. */
function started(module) {
    const program = `
        const before = new Set(process.moduleLoadList);
        const app = require(${JSON.stringify(module)})();
        app.get("/:name", (req, res) => res.json({ hello: req.params.name }));
        const server = app.listen(0, "127.0.0.1", () => {
            const socket = require("net").connect(server.address().port, "127.0.0.1", () => socket.write("GET /a HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n"));
            socket.once("data", (reply) => {
                const parts = process.moduleLoadList.filter((name) => !before.has(name)).map((name) => name.replace("NativeModule ", ""));
                console.log(JSON.stringify({ files: Object.keys(require.cache).map((path) => path.slice(process.cwd().length + 1)), parts, ok: String(reply).endsWith('{"hello":"a"}') }));
                process.exit();
            });
        });`;
    const { stdout, stderr } = spawnSync(process.execPath, ["-e", program], { cwd, encoding: "utf8", timeout: CHILD_MS_MAX });
    assert.equal(stderr, "");
    return JSON.parse(stdout);
}

const APPS = [
    ["leat/express", "dist/express/index.js", []],
    // Its query middleware parses the URL of every request, and its paths are this library's.
    ["leat/express4", "dist/express/v4/index.js", ["node_modules/parseurl/index.js", "node_modules/path-to-regexp-0.1/index.js"]],
];
for (const [module, entry, libraries] of APPS) {
    test(`an app of ${module} starts from two files, without OpenSSL's sockets, node:https and the libraries that it does not use`, () => {
        const { files, parts, ok } = started(module);
        assert.ok(ok);
        assert.deepEqual(files.filter((path) => !path.startsWith("node_modules/") && !path.endsWith(".node")).sort(), [entry, "dist/leat.js"].sort());
        assert.deepEqual(files.filter((path) => path.startsWith("node_modules/")).sort(), libraries);
        assert.deepEqual(parts.filter((name) => ["tls", "https", "_tls_wrap", "internal/tls/wrap", "worker_threads", "zlib"].includes(name)), []);
    });
}
