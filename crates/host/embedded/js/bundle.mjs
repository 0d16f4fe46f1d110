// Bundles the built-in modules: `node bundle.mjs FOLDER` writes one script for each into FOLDER. The value of such a script is
// a function `(exports, require, module, native)`, as of a CommonJS module; what one built-in needs of another it requires.
//
// The entries are `node/NAME.ts` (node:NAME; `node/fs/promises.ts` is node:fs/promises), `web/NAME.ts` (leat:web/NAME),
// `leat/NAME.ts` (leat:NAME), the folder `http` as one module, leat:http, and Express, the package's source: where it
// imports messages and servers of Node's host, it is given those of leat:http.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { builtinModules } from "node:module";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { inspectNative } from "./inspect_native.mjs";
import { script } from "./script.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const repository = resolve(here, "../../../..");
const leat = join(repository, "packages/leat");
const INSTALL_MS_MAX = 300_000;

/** The npm packages of `folder`, if its lock file is newer than what is installed. */
function install(folder) {
    const done = join(folder, "node_modules", ".package-lock.json");
    if (existsSync(done) && statSync(done).mtimeMs >= statSync(join(folder, "package-lock.json")).mtimeMs) return;
    const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder, stdio: ["ignore", 2, "inherit"], timeout: INSTALL_MS_MAX });
    if (status !== 0) throw new Error(`npm ci in ${relative(repository, folder)} failed`);
}

install(here);
install(leat);
const { build } = await import("esbuild");

/** Names of built-in modules and their files. */
function entries() {
    const found = new Map();
    const add = (folder, prefix) => {
        if (!existsSync(join(here, folder))) return;
        for (const path of readdirSync(join(here, folder), { recursive: true })) {
            const file = path.replaceAll(sep, "/");
            if (file.endsWith(".ts") && !file.endsWith(".d.ts") && !/(^|\/)_/.test(file)) found.set(prefix + file.slice(0, -3), join(here, folder, file));
        }
    };
    add("node", "node:");
    add("web", "leat:web/");
    add("leat", "leat:");
    found.set("leat:http", join(here, "http/index.ts"));
    found.set("leat:parse_errors", join(leat, "src/http/parse_errors.ts"));
    found.set("leat:express", join(leat, "src/express/index.ts"));
    found.set("leat:express4", join(leat, "src/express/v4/index.ts"));
    return found;
}

const modules = entries();
const byFile = new Map([...modules].map(([name, file]) => [file, name]));
/** `require` of a package's name that Node has a module for is Node's: `buffer`, `events`, `string_decoder`. */
const bare = new Set([...modules.keys()].filter((name) => name.startsWith("node:")).map((name) => name.slice(5)));

/** Entries that are left to write. */
const left = [...modules];

/** Packages that this host has something lighter for, unless that asks for them itself. */
const LIGHTER = { debug: "leat:debug" };

/** A package that Express uses is a module of its own, leat:npm/FILE, which is loaded when it is first required. */
async function library(made, { path, resolveDir, kind }) {
    const found = await made.resolve(path, { resolveDir, kind, pluginData: { inside: true } });
    // Optional ones are not installed; to require them throws, as without them on Node.
    if (found.errors.length > 0) return { path, external: true };
    // Node's own, which this host may not have yet.
    if (found.external) return { path: `node:${path.replace(/^node:/, "")}`, external: true };
    const name = `leat:npm/${relative(join(leat, "node_modules"), found.path).replaceAll(sep, "/").replace(/\.js$/, "")}`;
    if (!modules.has(name)) {
        modules.set(name, found.path);
        left.push([name, found.path]);
    }
    return { path: name, external: true };
}

const streams = join(here, "node_modules/readable-stream/lib/");
/** What the parts of readable-stream share has a form of its own here: errors and checks are those of all built-in modules. */
const instead = { "ours/errors": "leat:errors", "ours/util": "leat:stream_base", "internal/validators": "leat:validate", stream: "node:stream", "stream.js": "node:stream", "internal/shims/process": "node:process" };

/** The parts of readable-stream are modules of their own: a program that reads a body does not pay for `compose`. */
function streamPart(file) {
    const part = relative(streams, file).replaceAll(sep, "/");
    if (instead[part] !== undefined) return { path: instead[part], external: true };
    const name = `leat:stream/${part.replace(/^internal\/streams\//, "")}`;
    if (!modules.has(name)) {
        modules.set(name, `${file}.js`);
        left.push([name, `${file}.js`]);
    }
    return { path: name, external: true };
}

/** Data is parsed when it is asked for: a large literal would be code, and slower. */
const data = {
    name: "data",
    setup(made) {
        made.onLoad({ filter: /\.json$/ }, ({ path }) => ({ contents: `module.exports = JSON.parse(${JSON.stringify(JSON.stringify(JSON.parse(readFileSync(path, "utf8"))))});`, loader: "js" }));
    },
};

/** Since Node 20.17 streams of bytes take every view; readable-stream still speaks of one. */
const views = {
    name: "views",
    setup(made) {
        made.onLoad({ filter: /readable-stream.lib.internal.streams.(readable|writable)\.js$/ }, ({ path }) => ({ contents: readFileSync(path, "utf8").replaceAll("['string', 'Buffer', 'Uint8Array']", "['string', 'Buffer', 'TypedArray', 'DataView']"), loader: "js" }));
    },
};

/** Files of the package's http that need nothing of Node's host. */
const SHARED = new Set(["http/options.ts", "http/parse_errors.ts", "http/tls_settings.ts"]);

/** What is another entry stays outside, under its name. */
const between = {
    name: "between",
    setup(made) {
        made.onResolve({ filter: /.*/ }, (asked) => {
            if (asked.kind === "entry-point" || asked.pluginData?.inside) return undefined;
            const { path } = asked;
            const plain = path.replace(/^node:/, "").replace(/\/$/, "");
            if (path.startsWith("node:") || path.startsWith("leat:")) return { path, external: true };
            if (path.startsWith("readable-stream/lib/")) return streamPart(join(here, "node_modules", path));
            if (bare.has(plain) || builtinModules.includes(plain)) return { path: `node:${plain}`, external: true };
            if (!path.startsWith(".") && !path.startsWith("/")) {
                if (asked.importer.startsWith(leat) && LIGHTER[path] !== undefined) return { path: LIGHTER[path], external: true };
                return asked.importer.startsWith(leat) || LIGHTER[path] !== undefined ? library(made, asked) : undefined;
            }
            let file = resolve(asked.resolveDir, path);
            if (file.startsWith(streams)) return streamPart(file);
            if (existsSync(`${file}.ts`)) file = `${file}.ts`;
            else if (existsSync(join(file, "index.ts"))) file = join(file, "index.ts");
            // Express on Node's messages becomes Express on this host's.
            const inPackage = relative(join(leat, "src"), file).replaceAll(sep, "/");
            if ((inPackage.startsWith("http/") && !SHARED.has(inPackage)) || inPackage.startsWith("native/")) return { path: "leat:http", external: true };
            // The files of the folder `http` are one module.
            const inHttp = relative(join(here, "http"), file);
            const fromHttp = relative(join(here, "http"), asked.importer);
            if (!inHttp.startsWith("..") && fromHttp.startsWith("..")) return { path: "leat:http", external: true };
            const name = byFile.get(file);
            return name !== undefined && file !== asked.importer ? { path: name, external: true } : undefined;
        });
    },
};

const to = resolve(process.argv[2]);
mkdirSync(to, { recursive: true });
const written = new Set();
for (const [name, file] of left) {
    const { outputFiles } = await build({
        entryPoints: [file],
        bundle: true,
        write: false,
        format: "cjs",
        platform: "node",
        mainFields: ["main", "module"],
        target: "es2023",
        legalComments: "none",
        logLevel: "warning",
        nodePaths: [join(here, "node_modules"), join(leat, "node_modules")],
        plugins: [between, data, inspectNative, views],
    });
    const stem = name.replaceAll("/", "+").replace(":", "=");
    const text = `(function (exports, require, module, native) {"use strict";${script(outputFiles[0].text)}\n})`;
    const path = join(to, `${stem}.js`);
    written.add(`${stem}.js`);
    if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}
for (const file of readdirSync(to)) if (file.endsWith(".js") && !written.has(file)) rmSync(join(to, file));
