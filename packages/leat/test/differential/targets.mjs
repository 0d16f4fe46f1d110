// What the table runs on: node:http, leat/http, and (for the test of the table itself) mutants of node:http.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import http from "node:http";
import { mutants } from "./mutants.mjs";

const require = createRequire(import.meta.url);

/** `{ http, createSecureServer, certificate }` of the target `name`: `node`, `leat`, `embedded`, or a mutant's name. */
export async function target(name, { cert, key }) {
    const certificate = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
    const { default: https } = await import("node:https");
    if (name === "node" || name === "embedded") return { http, createSecureServer: https.createServer, certificate };
    if (name === "leat") return { ...leat(), certificate };
    return { http: mutants[name](http), createSecureServer: https.createServer, certificate };
}

function leat() {
    const module = require("../../dist/http/index.js");
    return { http: module, createSecureServer: module.https.createServer };
}
