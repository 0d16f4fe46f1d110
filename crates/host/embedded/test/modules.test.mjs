// `leat check APP`, `leat build APP`, modules kept on disk, and what is said of mistakes.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { leat } from "./binary.mjs";
import { RUN_MS_MAX, workshop } from "./workshop.mjs";

const { root, folder, run } = workshop("leat-modules-");

test("leat check names every mistake with its place, and exits with 2", () => {
    const app = folder("check", {
        "package.json": '{ "main": "main.js" }',
        "main.js": "require('./a');\n  require('missing');\ntry { require('optional') } catch {}\nrequire('bcrypt');\nrequire('trace_events');\nrequire('./types.ts');\nrequire('./broken.json');\nrequire('./syntax');\n",
        "a.js": "exports.a = 1;\n",
        "types.ts": "const a: number = 1;\n  enum E { A }\n",
        "broken.json": '{\n  "a": tru }',
        "syntax.js": "let a = 1;\nlet b = = 2;\n",
        "node_modules/bcrypt/index.js": 'require("node-gyp-build")(__dirname);\n',
    });
    const { status, stderr } = run(leat, ["check", app]);
    const lines = stderr.replaceAll(`${app}/`, "").split("\n");
    const has = (start) => assert.ok(lines.some((line) => line.startsWith(start)), `${start} in\n${stderr}`);
    has("main.js:2:3: Cannot find module 'missing'");
    has("main.js:3:7: warning: Cannot find module 'optional'");
    has("node_modules/bcrypt/index.js:1:1: bcrypt is a native addon");
    assert.match(stderr, /bcryptjs/);
    has("main.js:5:1: trace_events is not there in Leat's own host");
    has("types.ts:2:3: TypeScript enum is not supported");
    has("broken.json:2:");
    has("syntax.js:2:9: SyntaxError");
    assert.equal(status, 2);
});

test("leat check runs nothing of an app that is good", () => {
    const app = folder("good", { "main.mjs": "import './a.cjs'; import fs from 'fs'; throw new Error('ran');", "a.cjs": "process.exit(9);" });
    const { status, stdout } = run(leat, ["check", join(app, "main.mjs")]);
    assert.match(stdout, /good; 2 files/);
    assert.equal(status, 0);
});

test("leat check of what is not there", () => {
    assert.equal(run(leat, ["check", join(root, "nowhere.js")]).status, 2);
});

const APP = {
    "package.json": '{ "type": "module", "main": "src/main.ts", "imports": { "#data": "./data.json" } }',
    "data.json": '{ "data": [1, 2] }',
    "src/main.ts":
        "import { a } from './a.ts'; import c from '../lib/c.cjs'; import pkg, { named } from 'pkg'; import data from '#data' with { type: 'json' };\n" +
        "const late = await import('./late.js');\nconst name: string = './calc.js';\nconst calc = await import(name).then((m) => m.default, (error) => error.code);\n" +
        "console.log(JSON.stringify([a, c, pkg, named, data, late.default, calc, process.argv.slice(2)]));\nprocess.exitCode = 3;\n",
    "src/a.ts": "export const a: string = 'a' satisfies string;",
    "src/late.js": "export default 'late';",
    "src/calc.js": "export default 'calculated';",
    "lib/c.cjs": "module.exports = ['c', require('./d'), require.resolve('./d').endsWith('lib/d.cjs') || require('pkg').named];",
    "lib/d/index.js": "",
    "lib/d.js": "module.exports = 'd';",
    "lib/package.json": '{ "type": "commonjs" }',
    "node_modules/.store/pkg/package.json": '{ "name": "pkg", "main": "main.js" }',
    "node_modules/.store/pkg/main.js": "exports.named = 'named';",
};
const built = join(root, "built", "app");
mkdirSync(dirname(built), { recursive: true });

test("leat build makes an executable that needs no file of the app, and whose arguments are the app's own", () => {
    const app = folder("build", APP);
    symlinkSync(".store/pkg", join(app, "node_modules/pkg"));
    const made = run(leat, ["build", app, "-o", built]);
    assert.equal(made.status, 0, made.stderr);
    assert.match(made.stderr, /src\/main\.ts:4:20: warning: import\(\) of a calculated name/);
    const before = run(leat, ["run", join(app, "src/main.ts"), "run", "--help"]);
    const withCalculated = join(root, "built", "with");
    assert.equal(run(leat, ["build", app, "-o", withCalculated, "--include", join(app, "src/calc.js")]).status, 0);
    rmSync(app, { recursive: true });
    const expected = ["a", ["c", "d", "named"], { named: "named" }, "named", { data: [1, 2] }, "late", "calculated", ["run", "--help"]];
    assert.deepEqual(JSON.parse(before.stdout), expected);
    const after = run(withCalculated, ["run", "--help"]);
    assert.equal(after.stderr, "");
    assert.deepEqual(JSON.parse(after.stdout), expected);
    assert.equal(after.status, 3);
    const without = run(built, ["run", "--help"]);
    assert.deepEqual(JSON.parse(without.stdout), expected.with(6, "ERR_MODULE_NOT_FOUND"));
});

test("an executable has the Express that the app had installed, which it carries no file of", () => {
    for (const [major, own] of [[5, true], [4, false]]) {
        const app = folder(`installed${major}`, {
            "app.cjs": 'const express = require("express");\nconsole.log(typeof express, "Route" in express.Router, require("express/package.json").version);\n',
            "node_modules/express/package.json": JSON.stringify({ name: "express", version: `${major}.1.0`, main: "./index.js" }),
            "node_modules/express/index.js": 'throw new Error("npm\'s Express is not meant to run");\n',
        });
        const file = join(root, `installed${major}.bin`);
        const made = run(leat, ["build", join(app, "app.cjs"), "-o", file]);
        assert.equal(made.status, 0, made.stderr);
        rmSync(app, { recursive: true });
        const { stdout, stderr } = run(file, []);
        assert.equal(stdout, `function ${own} ${major}.1.0\n`, stderr);
    }
});

test("an executable whose section is damaged says so, and runs nothing", () => {
    const bytes = readFileSync(built);
    for (const [what, change] of [
        ["a byte of a file", (copy) => (copy[copy.length - 200] ^= 1)],
        ["the checksum", (copy) => (copy[copy.length - 20] ^= 1)],
        ["the length", (copy) => (copy[copy.length - 56] ^= 1)],
        ["a length beyond all", (copy) => copy.fill(0xff, copy.length - 56, copy.length - 48)],
    ]) {
        const copy = Buffer.from(bytes);
        change(copy);
        const path = join(root, "built", "damaged");
        rmSync(path, { force: true });
        writeFileSync(path, copy, { mode: 0o755 });
        const { status, stdout, stderr } = run(path, []);
        assert.equal(stdout, "", what);
        assert.match(stderr, /the program that it carries is damaged/, what);
        assert.equal(status, 1, what);
    }
});

test("leat build refuses an app with mistakes", () => {
    const app = folder("mistakes", { "main.js": "require('./nowhere');" });
    const { status, stderr } = run(leat, ["build", join(app, "main.js"), "-o", join(root, "built", "never")]);
    assert.equal(status, 2);
    assert.match(stderr, /main\.js:1:1: Cannot find module '\.\/nowhere'/);
    assert.ok(!readdirSync(join(root, "built")).includes("never"));
});

/** A module that is long enough to be kept. */
const long = (value) => `module.exports = ${JSON.stringify(value)};\n${"// so that it is worth it\n".repeat(400)}function f() { return 'kept'; }\nmodule.exports.toString;`;

test("modules are kept on disk, and what is doubtful is compiled anew", () => {
    const app = folder("cached", { "main.cjs": "console.log(require('./long.cjs'));", "long.cjs": long("one") });
    const caches = join(root, "caches");
    const program = (env = {}, args = []) => run(leat, ["run", ...args, join(app, "main.cjs")], { env: { XDG_CACHE_HOME: caches, ...env } });
    assert.equal(program({}, ["--no-cache"]).stdout, "one\n");
    assert.throws(() => readdirSync(caches), { code: "ENOENT" });
    assert.equal(program().stdout, "one\n");
    const entries = () => readdirSync(join(caches, "leat")).filter((name) => name !== "key");
    assert.equal(entries().length, 1);
    assert.equal(program().stdout, "one\n");
    const entry = join(caches, "leat", entries()[0]);
    const good = readFileSync(entry);
    for (const bad of [Buffer.alloc(0), good.subarray(0, 60), good.subarray(0, -1), Buffer.from(good.map((byte, at) => (at === good.length - 9 ? byte ^ 1 : byte))), Buffer.alloc(5000, 0xff)]) {
        writeFileSync(entry, bad);
        assert.equal(program().stdout, "one\n");
        assert.deepEqual(readFileSync(entry), good, "it is written anew");
    }
    writeFileSync(join(app, "long.cjs"), long("two"));
    assert.equal(program().stdout, "two\n");
    copyFileSync(entry, join(caches, "kept"));
    chmodSync(join(caches, "leat"), 0o777);
    writeFileSync(join(app, "long.cjs"), long("three"));
    assert.equal(program().stdout, "three\n");
    assert.deepEqual(readFileSync(entry), readFileSync(join(caches, "kept")), "a folder that others can write is left alone");
    for (const nowhere of ["/proc/nothing", join(app, "main.cjs")]) assert.equal(program({ XDG_CACHE_HOME: nowhere }).stdout, "three\n");
});

test("express is Leat's: 5 where none is installed, and else the one of the version that is", () => {
    const show = "console.log([typeof express, typeof express.Router, typeof express.application.lazyrouter, express === again, express.marker].join());";
    const app = folder("express", {
        "none/main.cjs": `const express = require('express'), again = require('leat/express'); ${show}`,
        "none/main.mjs": `import express, { Router } from 'express'; import again from 'leat/express'; if (Router !== express.Router) throw new Error('Router'); ${show}`,
        "four/main.cjs": `const express = require('express'), again = require('leat/express4'); ${show}`,
        "four/main.mjs": `import express, { Router } from 'express'; import again from 'leat/express4'; if (Router !== express.Router) throw new Error('Router'); ${show}`,
        "four/part.cjs": "console.log(require('express/lib/application') === require('express').application, require('express/lib/own').own, require.resolve('express').endsWith('four/node_modules/express/index.js'));",
        "four/node_modules/express/package.json": '{ "name": "express", "version": "4.21.2" }',
        "four/node_modules/express/index.js": "exports.marker = 'real';",
        "four/node_modules/express/lib/application.js": "exports.marker = 'real';",
        "four/node_modules/express/lib/own.js": "exports.own = 'own';",
        "other/main.cjs": `const express = require('express'), again = express; express.application = {}; ${show}`,
        "other/node_modules/express/package.json": '{ "name": "not-express", "version": "4.21.2" }',
        "other/node_modules/express/index.js": "exports.marker = 'real';",
    });
    const printed = (file) => {
        const { stdout, stderr } = run(leat, ["run", join(app, file)]);
        return stdout || stderr;
    };
    assert.equal(printed("none/main.cjs"), "function,function,undefined,true,\n");
    assert.equal(printed("none/main.mjs"), "function,function,undefined,true,\n");
    assert.equal(printed("four/main.cjs"), "function,function,function,true,\n");
    assert.equal(printed("four/main.mjs"), "function,function,function,true,\n");
    assert.equal(printed("four/part.cjs"), "true own true\n");
    assert.equal(printed("other/main.cjs"), "object,undefined,undefined,true,real\n");
});

test("stacks of translated modules say what their authors wrote", () => {
    // Line 1 of the output is line 3 of the source.
    const map = { version: 3, sources: ["original.ts"], names: [], mappings: "AAEA" };
    const inline = Buffer.from(JSON.stringify(map)).toString("base64");
    const body = "throw new Error('translated');\n";
    const app = folder("mapped", {
        "main.cjs": "for (const name of ['./inline.cjs', './beside.cjs', './gone.cjs', './plain.cjs']) try { require(name); } catch (error) { console.log(error.stack.split('\\n')[1].replace(/.*\\/|:\\d+\\)?$/g, '')); }\nimport('./inline.mjs').catch((error) => console.log(error.stack.split('\\n')[1].replace(/.*\\/|:\\d+\\)?$/g, '')));",
        "inline.cjs": `${body}//# sourceMappingURL=data:application/json;base64,${inline}\n`,
        "inline.mjs": `${body}//# sourceMappingURL=data:application/json;base64,${inline}\n`,
        "beside.cjs": `${body}//# sourceMappingURL=beside.cjs.map`,
        "beside.cjs.map": JSON.stringify({ ...map, sources: ["../lib/beside.ts"] }),
        "gone.cjs": `${body}//# sourceMappingURL=nowhere.map`,
        "plain.cjs": body,
    });
    assert.equal(run(leat, ["run", join(app, "main.cjs")]).stdout, "original.ts:3\nbeside.ts:3\ngone.cjs:1\nplain.cjs:1\noriginal.ts:3\n");
});

for (const [name, text] of Object.entries({
    "commonjs.cjs": "const late = require('./late.mjs'); require('./other.cjs'); setInterval(() => {}, 1000); console.log('up');",
    "module.mjs": "import './late.mjs'; import './other.cjs'; await import('./data.json', { with: { type: 'json' } }); setInterval(() => {}, 1000); console.log('up');",
})) {
    test(`nothing of its modules outlives a world that is made anew: ${name}`, { timeout: RUN_MS_MAX }, async () => {
        const app = folder(`again-${name}`, { [name]: text, "late.mjs": "export const v = 1;", "other.cjs": "exports.v = 1;", "data.json": "1" });
        const child = spawn(leat, ["run", "--watch", join(app, name)], { stdio: ["ignore", "pipe", "inherit"] });
        const ended = new Promise((resolve) => child.on("close", (code, signal) => resolve(signal ?? code)));
        let ups = 0;
        for await (const text of child.stdout) {
            ups += String(text).split("up\n").length - 1;
            if (ups >= 2) break;
            writeFileSync(join(app, "late.mjs"), `export const v = ${ups + 1};`);
        }
        assert.equal(ups, 2);
        child.kill();
        assert.ok([0, "SIGTERM"].includes(await ended));
    });
}

const MISTAKES = {
    "a.cjs": ["let a = 1;\n\tlet b = = 2;\n", /a\.cjs:2\n\tlet b = = 2;\n\t +\^\n\nSyntaxError: /],
    "a.mjs": ["export const a = 1;\nlet b = (;\n", /a\.mjs:2\nlet b = \(;\n +\^\n\nSyntaxError: /],
    "imports.mjs": ["import './a.mjs';\n", /a\.mjs:2\nlet b = \(;\n +\^\n\nSyntaxError: /],
    "export.mjs": ["import './fine.mjs';\nimport { nope } from './fine.mjs';\n", /export\.mjs:2\nimport \{ nope \} from '\.\/fine\.mjs';\n +\^\n\nSyntaxError: The requested module '\.\/fine\.mjs' does not provide an export named 'nope'/],
    "builtin.mjs": ["import { nope } from 'events';\n", /builtin\.mjs:1\n.*\n +\^\n\nSyntaxError: The requested module 'events' does not provide an export named 'nope'/],
    "a.ts": ["let a: number = 1;\n  enum B { C }\n", /a\.ts:2\n {2}enum B \{ C \}\n {2}\^\n\nSyntaxError: TypeScript enum is not supported/],
    "addon.cjs": ["require('./x.node');\n", /x\.node is a native addon, which only Node\.js can load\nRequired by .*addon\.cjs\n.*node --import leat\/register/s],
    "lacks.cjs": ["require('node:trace_events');\n", /node:trace_events is not there in Leat's own host\nRequired by .*lacks\.cjs\n.*node --import leat\/register/s],
    "lacks.mjs": ["import 'trace_events';\n", /trace_events is not there in Leat's own host\nRequired by .*lacks\.mjs/],
    "missing.cjs": ["require('./nowhere');\n", /Cannot find module '\.\/nowhere'\nRequire stack:\n- .*missing\.cjs/],
};
for (const [name, [text, expected]] of Object.entries(MISTAKES)) {
    test(`a mistake is said with its place: ${name}`, () => {
        const app = folder("said", { "a.mjs": MISTAKES["a.mjs"][0], "x.node": "", "fine.mjs": "export const fine = 1;", [name]: text });
        const { status, stdout, stderr } = run(leat, ["run", join(app, name)]);
        assert.match(stderr, expected);
        assert.equal(stdout, "");
        assert.equal(status, 1);
    });
}
