// Options of servers that `leat run` can't serve are refused by name, before anything listens.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import test from "node:test";
import { leat } from "./binary.mjs";
import { workshop } from "./workshop.mjs";

const { root, folder, run } = workshop("leat-options-");
const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(root, name));
execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj", "/CN=localhost", "-keyout", key, "-out", cert], { stdio: "ignore" });

const PAIR = "key: fs.readFileSync(process.argv[2]), cert: fs.readFileSync(process.argv[3])";
for (const [module, options, refused] of [
    ["node:http", "{ http2: true }", "http2"],
    ["leat/http", "{ http2: true }", "http2"],
    ["node:https", `{ ${PAIR}, http2: true }`, "http2"],
    ["node:https", `{ ${PAIR}, ALPNProtocols: ["h2", "http/1.1"] }`, "ALPNProtocols"],
    ["node:http", "{ http2: false }", "none"],
    ["node:https", `{ ${PAIR}, ALPNProtocols: ["http/1.1"] }`, "none"],
]) {
    test(`${module} with ${options}: ${refused} is refused`, () => {
        const app = folder("app", {
            "app.js": `const fs = require("node:fs");
try { require("${module}").createServer(${options}); console.log("none"); }
catch ({ code, option, message }) { console.log(option, code, message); }`,
        });
        const { status, stdout, stderr } = run(leat, ["run", join(app, "app.js"), key, cert]);
        assert.equal(status, 0, stderr);
        assert.equal(stdout.split(/\s/)[0], refused, stdout);
        if (refused !== "none") assert.match(stdout, /LEAT_UNSUPPORTED_OPTION.*leat gateway/);
    });
}
