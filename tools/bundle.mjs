// Puts the modules of the npm package into one file, since finding, reading and compiling each by itself is most of what
// starting an app costs. `dist/leat.js` has them as they were compiled (`dist/leat_transport.js` those of outgoing calls), and
// runs each when it is first required; in `dist` each keeps a file of its name, which asks that one: all entries of the package,
// and the tests, share one copy of every module.
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, posix } from "node:path";

const { transpileModule, ModuleKind, ScriptTarget } = createRequire(new URL("../packages/leat/package.json", import.meta.url))("typescript");

const HEAD = `"use strict";
// All modules of this package; each begins with a line of its name.
const path = require("node:path");
const loaded = Object.create(null);
function load(name) {
    const found = loaded[name];
    if (found !== undefined) return found.exports;
    const file = path.join(__dirname, name + ".js");
    const module = { exports: {}, id: file, filename: file };
    loaded[name] = module;
    try {
        if (!(name in modules)) for (const [prefix, part] of Object.entries(parts)) if (name.startsWith(prefix)) take(require(part));
        modules[name](module.exports, requireIn(name), module, file, path.dirname(file));
    } catch (error) {
        delete loaded[name];
        throw error;
    }
    return module.exports;
}
function take(part) {
    Object.assign(modules, part.modules);
    Object.assign(inside, part.inside);
}
function requireIn(name) {
    const known = inside[name];
    const own = (id) => (id in known ? load(known[id]) : require(id));
    own.resolve = require.resolve;
    own.main = require.main;
    own.cache = require.cache;
    return own;
}
module.exports = load;
`;

/**
 * What a plain server never needs is required where it is used, and not at the top: OpenSSL's part of Node takes milliseconds
 * to load. tsc writes every use of such an import as a property of the name that it gave to the module.
 */
const LATE = new Set(["node:crypto", "node:tls", "./tls_socket"]);

/** What programs that only serve never load, in files of their own: V8 scans all of a file. By the names' beginnings. */
const PARTS = { "transport/": "leat_transport.js" };

/** Bundles what tsc left in `from`; `to` is the package's `dist`. */
export function bundle(from, to) {
    const files = readdirSync(from, { recursive: true }).map((path) => path.replaceAll("\\", "/"));
    const names = files.filter((path) => path.endsWith(".js")).map((path) => path.slice(0, -3)).sort();
    const modules = names.map((name) => read(join(from, `${name}.js`), name, names));
    const written = new Set();
    // What is as it was stays untouched: programs may be running from it.
    const put = (path, text) => {
        written.add(path);
        const file = join(to, path);
        if (existsSync(file) && readFileSync(file, "utf8") === text) return;
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
    };
    for (const path of files.filter((file) => file.endsWith(".d.ts"))) put(path, readFileSync(join(from, path), "utf8"));
    const partOf = ({ name }) => Object.entries(PARTS).find(([prefix]) => name.startsWith(prefix))?.[1];
    const requires = (list) => JSON.stringify(Object.fromEntries(list.map((module) => [module.name, module.requires])), undefined, 1);
    const wrapped = (list) => list.map(({ name, code }) => `// ---- ${name}.js\n${JSON.stringify(name)}: function (exports, require, module, __filename, __dirname) {\n${code}\n},\n`).join("");
    const first = modules.filter((module) => partOf(module) === undefined);
    const parts = JSON.stringify(Object.fromEntries(Object.entries(PARTS).map(([prefix, file]) => [prefix, `./${file}`])));
    put("leat.js", `${HEAD}const parts = ${parts};\nconst inside = ${requires(first)};\nconst modules = {\n__proto__: null,\n${wrapped(first)}};\n`);
    for (const file of new Set(Object.values(PARTS))) {
        const list = modules.filter((module) => partOf(module) === file);
        put(file, `"use strict";\nexports.inside = ${requires(list)};\nexports.modules = {\n${wrapped(list)}};\n`);
    }
    for (const module of modules) {
        put(`${module.name}.js`, entry(module));
        if (module.shebang !== "") chmodSync(join(to, `${module.name}.js`), 0o755);
    }
    for (const path of readdirSync(to, { recursive: true }).map((each) => each.replaceAll("\\", "/"))) {
        if (/\.\w+$/.test(path) && !written.has(path)) rmSync(join(to, path), { recursive: true });
    }
}

/** A module, what it requires of the others, and the names that `import` finds in it. */
function read(path, name, names) {
    let code = readFileSync(path, "utf8");
    const shebang = /^#!.*\n/.exec(code)?.[0] ?? "";
    code = late(withoutComments(code.slice(shebang.length)).trimEnd());
    const requires = {};
    for (const [, id] of code.matchAll(/\brequire\("(\.[^"]*)"\)/g)) {
        const target = posix.join(posix.dirname(name), id);
        const found = [target, `${target}/index`].find((each) => names.includes(each));
        if (found === undefined) throw new Error(`${path} requires ${id}, which is not one of its neighbours`);
        requires[id] = found;
    }
    return { name, code, shebang, requires, exports: exportsOf(code) };
}

function late(code) {
    let out = code;
    for (const [line, name, id] of code.matchAll(/^const (\w+) = require\("([^"]+)"\);$/gm)) {
        if (!LATE.has(id)) continue;
        out = out.replace(line, `const ${name} = () => require("${id}");`).replaceAll(new RegExp(`\\b${name}\\.`, "g"), `(${name}()).`);
    }
    return out;
}

/** V8 scans comments at every start, and one that is not ASCII makes it keep the whole file in two bytes a character. */
function withoutComments(code) {
    return transpileModule(code, { compilerOptions: { removeComments: true, target: ScriptTarget.ES2022, module: ModuleKind.CommonJS } }).outputText;
}

/** As Node's own lexer does it, on what tsc writes. */
function exportsOf(code) {
    const found = new Set();
    for (const [, name] of code.matchAll(/^exports\.(\w+) = /gm)) found.add(name);
    for (const [, name] of code.matchAll(/^Object\.defineProperty\(exports, "(\w+)"/gm)) found.add(name);
    for (const [, names] of code.matchAll(/^(?:const \w+ = \()?module\.exports = \{\n([\s\S]*?)\n\}/gm)) {
        for (const [, name] of names.matchAll(/^ {4}(\w+)(?:: \w+)?,$/gm)) found.add(name);
    }
    return [...found].sort();
}

/** The file of one module. Node reads the names that can be imported out of it, and never runs its last line. */
function entry({ name, shebang, exports }) {
    const up = posix.relative(posix.dirname(name), "leat.js");
    const id = up.startsWith(".") ? up : `./${up}`;
    const names = exports.length === 0 ? "" : `0 && (${exports.map((each) => `exports.${each} = `).join("")}0);\n`;
    // Not in one statement, which would say that the names of all modules are this one's.
    return `${shebang}"use strict";\nconst load = require(${JSON.stringify(id)});\nmodule.exports = load(${JSON.stringify(name)});\n${names}`;
}
