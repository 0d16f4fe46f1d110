// Folders of programs with packages that bear Express's name. None of their code may run.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const leat = fileURLToPath(new URL("../..", import.meta.url));

/** As Node's lexer sees the real one: it has these names in its text. */
const INDEX = "module.exports = require('./lib/express');\n";
const NAMES = ["application", "request", "response", "Route", "Router", "json", "static", "urlencoded"];
const LIB = `exports = module.exports = {};\n${NAMES.map((name) => `exports.${name} = undefined;`).join("\n")}\nthrow new Error("the installed express was loaded");\n`;

export const FILES = {
    4: ["express", "application", "request", "response", "router/index", "router/layer", "router/route", "middleware/init", "middleware/query", "view"],
    5: ["express", "application", "request", "response", "view"],
};

/** The package that Express 5 has its router from. */
const ROUTER = ["index", "lib/layer", "lib/route"];

/** Writes `files` by path and `node_modules/express` in each of `versions` (`{ folder: version }`); says where. */
export function program(t, { files = {}, versions = {} }) {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "leat-")));
    t.after(() => rmSync(root, { recursive: true }));
    const write = (path, text) => {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text);
    };
    mkdirSync(join(root, "node_modules"));
    symlinkSync(leat, join(root, "node_modules", "leat"));
    for (const [folder, { name = "express", version }] of Object.entries(versions)) {
        const base = join(folder, "node_modules", "express");
        write(join(base, "package.json"), JSON.stringify({ name, version }));
        write(join(base, "index.js"), INDEX);
        write(join(base, "lib", "utils.js"), "exports.own = true;\n");
        for (const file of FILES[Number.parseInt(version, 10)] ?? ["express"]) write(join(base, "lib", `${file}.js`), LIB);
    }
    if (Object.values(versions).some(({ version }) => version.startsWith("5."))) {
        write("node_modules/router/package.json", JSON.stringify({ name: "router", version: "2.2.0" }));
        for (const file of ROUTER) write(`node_modules/router/${file}.js`, LIB);
    }
    for (const [path, text] of Object.entries(files)) write(path, text);
    return root;
}
