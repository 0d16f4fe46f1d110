// ES modules that are kept as bytecode, on disk and in executables; the files that an executable carries for its program to read.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import test from "node:test";
import { leat } from "./binary.mjs";
import { RUN_MS_MAX, workshop } from "./workshop.mjs";

const { root, folder, run } = workshop("leat-kept-");

/** Makes a module long enough to be kept. */
const long = (text) => `${text}\n${"// so that it is worth it\n".repeat(100)}`;

const MODULES = {
    "main.mjs": long(
        "import { a, late } from './a.mjs'; import * as ring from './ring.mjs'; import { data } from './json.mjs'; import { c } from './c.cjs';\n" +
            "const { default: again } = await import('./again.mjs?1'); const { default: other } = await import('./again.mjs?2');\n" +
            "console.log(JSON.stringify([a, late, ring.name(), data, c, again.at, other.at, again.fs === other.fs, import.meta.url.endsWith('/main.mjs'), import.meta.filename.endsWith('/main.mjs'), typeof import.meta.resolve, import.meta.resolve('./a.mjs').endsWith('/a.mjs')]));\n" +
            "export const name = 'main';",
    ),
    "a.mjs": long("export const a = await Promise.resolve('a'); export let late = 1; late++; function where() { throw new Error('where'); }\ntry { where(); } catch (error) { if (!/a\\.mjs:1:\\d+/.test(error.stack)) throw error; }"),
    "ring.mjs": long("import { name as main } from './main.mjs'; export const name = () => { try { return main; } catch (error) { return error.name; } };"),
    "again.mjs": long("import fs from 'node:fs'; export default { at: import.meta.url.replace(/.*\\//, ''), fs };"),
    "json.mjs": long("export { default as data } from './data.json' with { type: 'json' };"),
    "data.json": "[1]",
    "c.cjs": "exports.c = 'c';",
};
const PRINTED = '["a",2,"ReferenceError",[1],"c","again.mjs?1","again.mjs?2",true,true,true,"function",true]\n';

test("ES modules are kept on disk, and what is doubtful is compiled anew", () => {
    const app = folder("cached", MODULES);
    const caches = join(root, "caches");
    const program = () => run(leat, ["run", join(app, "main.mjs")], { env: { XDG_CACHE_HOME: caches } });
    const entries = () => readdirSync(join(caches, "leat")).filter((name) => name !== "key");
    for (let times = 0; times < 3; times++) {
        const { status, stdout, stderr } = program();
        assert.deepEqual([status, stdout, stderr], [0, PRINTED, ""]);
        assert.equal(entries().length, 3, "a, and again twice: its URL is in the bytecode; neither those in a circle nor one with attributes");
    }
    const good = new Map(entries().map((name) => [name, readFileSync(join(caches, "leat", name))]));
    const foreign = [...good.values()].reverse();
    let at = 0;
    for (const [name, bytes] of good) {
        const flipped = Buffer.from(bytes);
        flipped[bytes.length - 9] ^= 1;
        const build = Buffer.from(bytes);
        build[8] ^= 1;
        for (const bad of [Buffer.alloc(0), bytes.subarray(0, -1), flipped, build, foreign[at]]) {
            if (bad.equals(bytes)) continue;
            writeFileSync(join(caches, "leat", name), bad);
            assert.equal(program().stdout, PRINTED);
            assert.deepEqual(readFileSync(join(caches, "leat", name)), bytes, "it is written anew");
        }
        at++;
    }
    writeFileSync(join(app, "a.mjs"), MODULES["a.mjs"].replace("resolve('a')", "resolve('b')"));
    assert.equal(program().stdout, PRINTED.replace('"a"', '"b"'));
    writeFileSync(join(app, "a.mjs"), "export const a = 1;");
    assert.match(program().stderr, /main\.mjs:1\n.*\n +\^\n\nSyntaxError: The requested module '\.\/a\.mjs' does not provide an export named 'late'/);
    writeFileSync(join(app, "a.mjs"), "export const a = ;");
    assert.match(program().stderr, /a\.mjs:1\nexport const a = ;\n +\^\n\nSyntaxError: /);
    rmSync(caches, { recursive: true });
    const plain = folder("plain", { "main.mjs": long("import { a } from './a.mjs'; console.log(a + await Promise.resolve('b'), import.meta.filename.endsWith('/main.mjs'));"), "a.mjs": long("export const a = 'a';") });
    for (let times = 0; times < 3; times++) {
        const { stdout, stderr } = run(leat, ["run", join(plain, "main.mjs")], { env: { XDG_CACHE_HOME: caches } });
        assert.equal(stdout, "ab true\n", stderr);
    }
    assert.equal(entries().length, 2, "the program's first module is kept too");
    writeFileSync(join(plain, "a.mjs"), "export const b = 1;");
    assert.match(run(leat, ["run", join(plain, "main.mjs")], { env: { XDG_CACHE_HOME: caches } }).stderr, /main\.mjs:1\n.*\n +\^\n\nSyntaxError: The requested module '\.\/a\.mjs' does not provide an export named 'a'/);
});

test("an executable has its ES modules as bytecode, and they are what they were", () => {
    const app = folder("built", { ...MODULES, "typed.mts": "export const typed: string = 'typed';", "package.json": "{}", "unsaid.js": "import { typed } from './typed.mts'; import './main.mjs'; console.log(typed);" });
    const file = join(root, "built.bin");
    const made = run(leat, ["build", join(app, "unsaid.js"), "-o", file]);
    assert.equal(made.status, 0, made.stderr);
    rmSync(app, { recursive: true });
    const { stdout, stderr } = run(file, []);
    assert.equal(stdout, `${PRINTED}typed\n`, stderr);
});

const READER = `
const fs = require("node:fs"), path = require("node:path"), express = require("express");
const at = (...names) => path.join(__dirname, ...names);
const failed = (run) => { try { return run(); } catch (error) { return error.code + " " + error.syscall; } };
(async () => {
    const page = path.join(__dirname, "public", "page.html");
    const { size, mtimeMs } = fs.statSync(page);
    console.log(JSON.stringify([
        fs.readFileSync(page, "utf8"),
        await fs.promises.readFile(page, "utf8"),
        size, mtimeMs > 0, fs.statSync(at("public")).isDirectory(), fs.lstatSync(page).isFile(), fs.existsSync(at("public", "none")), fs.existsSync(at("public/")),
        fs.readdirSync(at("public")), fs.readdirSync(at("public"), { withFileTypes: true }).map((entry) => entry.isDirectory()), fs.readdirSync(at("public"), { recursive: true }),
        fs.realpathSync(page) === page,
        await fs.createReadStream(page, { start: 1, end: 3 }).toArray().then(String),
    ]));
    // On the disk they would succeed.
    console.log(!__dirname.startsWith("/$leat") || JSON.stringify([
        failed(() => fs.readFileSync(at("public", "none"))), failed(() => fs.readFileSync(at("public"))), failed(() => fs.writeFileSync(page, "")),
        failed(() => fs.accessSync(page, fs.constants.W_OK)), failed(() => fs.accessSync(page)), failed(() => fs.readdirSync(page)), failed(() => fs.unlinkSync(page)), failed(() => fs.openSync(page, "a")),
    ]));
    const app = express();
    app.use(express.static(at("public")));
    app.get("/sent", (req, res) => res.sendFile(page));
    app.engine("view", (file, options, done) => fs.readFile(file, "utf8", (error, text) => done(error, text && text.replace("NAME", options.name))));
    app.set("views", __dirname + "/views");
    app.get("/view", (req, res) => res.render("hello.view", { name: "leat" }));
    const server = app.listen(0, async () => {
        for (const url of ["/page.html", "/deep/a.txt", "/sent", "/view", "/none"]) {
            const response = await fetch("http://127.0.0.1:" + server.address().port + url);
            console.log(response.status, response.headers.get("content-type"), url === "/none" ? "" : await response.text());
        }
        server.close();
    });
})();
`;

test("an executable's program reads the files that it carries, and no others can be written there", () => {
    const app = folder("reader", {
        "app.cjs": READER,
        "public/page.html": "<page>",
        "public/deep/a.txt": "deep",
        "public/script.js": "import 'not-there'; let a = ;",
        "views/hello.view": "Hello NAME!",
    });
    const file = join(root, "reader.bin");
    const untold = run(leat, ["build", join(app, "app.cjs"), "-o", file]);
    assert.match(untold.stderr, /app\.cjs:6:18: warning: .*public\/page\.html is read when the program runs, and not carried: carry it with --include .*public\/page\.html\n/);
    assert.match(untold.stderr, /app\.cjs:\d+:\d+: warning: .*\/views is read when the program runs/);
    const made = run(leat, ["build", join(app, "app.cjs"), "-o", file, "--include", join(app, "public"), "--include", join(app, "views")]);
    assert.deepEqual([made.status, made.stderr], [0, ""]);
    const beside = run(leat, ["run", join(app, "app.cjs")]).stdout.split("\n");
    rmSync(app, { recursive: true });
    const { stdout, stderr } = run(file, []);
    const [read, refused, ...served] = stdout.split("\n");
    assert.equal(read, beside[0], stderr);
    assert.deepEqual(JSON.parse(refused), ["ENOENT open", "EISDIR read", "EROFS open", "EROFS access", null, "ENOTDIR scandir", "ENOENT unlink", "EROFS open"]);
    assert.deepEqual(served, beside.slice(2));
    assert.deepEqual(served.slice(0, 4), ["200 text/html; charset=utf-8 <page>", "200 text/plain; charset=utf-8 deep", "200 text/html; charset=utf-8 <page>", "200 text/html; charset=utf-8 Hello leat!"]);
});

test("a file with import in a package of CommonJS gets Node's hint", () => {
    const app = folder("hinted", { "package.json": '{ "type": "commonjs" }', "a.js": "import fs from 'fs';\n", "b.js": "let a = ;", "c.cjs": "require('./a.js')" });
    const hint = 'Warning: To load an ES module, set "type": "module" in the package.json or use the .mjs extension.';
    for (const [name, hinted] of [["a.js", true], ["c.cjs", true], ["b.js", false]]) {
        const { status, stderr } = run(leat, ["run", join(app, name)]);
        assert.equal(stderr.includes(hint), hinted, stderr);
        assert.match(stderr, /SyntaxError: /);
        assert.equal(status, 1);
    }
});

test("an address for metrics that is in use ends the start with 1, before the program runs", async () => {
    const app = folder("metrics", { "app.cjs": "console.log('ran'); setInterval(() => {}, 1000);" });
    const taken = createServer();
    await new Promise((done) => taken.listen(0, "127.0.0.1", done));
    const { port } = taken.address();
    const child = spawn(leat, ["run", join(app, "app.cjs"), "--metrics", String(port)], { timeout: RUN_MS_MAX });
    let said = "";
    child.stdout.on("data", (text) => (said += text));
    child.stderr.on("data", (text) => (said += text));
    const code = await new Promise((done) => child.on("close", done));
    taken.close();
    assert.equal(code, 1, said);
    assert.match(said, new RegExp(`^leat run: metrics: .*${port}.*in use`, "i"));
});
