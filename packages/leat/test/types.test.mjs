// Programs for @types/express compile when all that they changed is the name that they import: strictly, as both kinds of
// modules, against the declarations of Express 5 and of Express 4. Each program is compiled beside the packages that it has.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const types = join(root, "node_modules", "@types");
const COMPILE_MS_MAX = 120_000;

/** The folders of `@types` that a program with one major version of Express has. */
function installed(major) {
    const found = new Map(readdirSync(types).map((name) => [name, join(types, name)]));
    if (major === 4) {
        const four = join(root, "node_modules", "types-express-4");
        found.set("express", four);
        const own = join(four, "node_modules", "@types");
        for (const name of readdirSync(own)) found.set(name, join(own, name));
    }
    return found;
}

/** A folder with `files`, the package, and declarations of Express `major`. */
function project(t, major, files, options) {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "leat-")));
    t.after(() => rmSync(folder, { recursive: true }));
    const modules = join(folder, "node_modules");
    mkdirSync(join(modules, "leat"), { recursive: true });
    // Copied, since what a link leads to would find the declarations of this repository.
    for (const part of ["package.json", "types"]) cpSync(join(root, part), join(modules, "leat", part), { recursive: true });
    const copied = new Map([...installed(major)].filter(([name]) => name !== "node"));
    for (const [name, from] of copied) cpSync(from, join(modules, "@types", name), { recursive: true, filter: (path) => !path.slice(from.length).includes("node_modules") });
    for (const name of ["@types/node", "undici-types"]) symlinkSync(join(root, "node_modules", name), join(modules, name));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const compilerOptions = { strict: true, noEmit: true, target: "ES2022", types: ["node"], skipLibCheck: false, noUncheckedIndexedAccess: true, ...options };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.mts", "*.cts", "*.ts"] }));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "program" }));
    return folder;
}

/** What tsc has to say. */
function compile(folder) {
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const { stdout, stderr, error } = spawnSync(process.execPath, [tsc, "--project", folder, "--pretty", "false"], { cwd: folder, encoding: "utf8", timeout: COMPILE_MS_MAX });
    assert.equal(error, undefined);
    return stdout + stderr;
}

const program = (name, major) => {
    const text = readFileSync(new URL(`types/express/${name}`, import.meta.url), "utf8");
    return major === 4 ? text.replaceAll('"leat/express"', '"leat/express4"') : text;
};

for (const major of [5, 4]) {
    test(`programs of both kinds of modules compile with the declarations of Express ${major}`, (t) => {
        const files = { "program.mts": program("program.mts", major), "program.cts": program("program.cts", major) };
        assert.equal(compile(project(t, major, files, { module: "nodenext" })), "");
    });

    test(`a program for a bundler compiles with the declarations of Express ${major}`, (t) => {
        assert.equal(compile(project(t, major, { "program.ts": program("program.mts", major) }, { module: "esnext", moduleResolution: "bundler" })), "");
    });

    test(`mistakes are still told with the declarations of Express ${major}`, (t) => {
        const module = major === 5 ? "leat/express" : "leat/express4";
        const wrong = `import express from "${module}";\nconst app = express();\napp.get("/", (req, res) => { res.status("fine"); });\napp.usee();\n`;
        const said = compile(project(t, major, { "wrong.mts": wrong }, { module: "nodenext" }));
        assert.deepEqual(said.match(/wrong\.mts\(\d+/g), ["wrong.mts(3", "wrong.mts(4"], said);
    });
}

test("Express 4's own declarations are those of leat/express4", (t) => {
    // `req.param()` and `app.del` are gone in 5.
    const text = 'import express from "leat/express4";\nconst app = express();\napp.get("/", (req, res) => void res.send(req.param("a")));\n';
    assert.equal(compile(project(t, 4, { "program.mts": text }, { module: "nodenext" })), "");
    assert.match(compile(project(t, 5, { "program.mts": text }, { module: "nodenext" })), /program\.mts\(3/);
});
