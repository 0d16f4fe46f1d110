// `leat/register` and the name `express`, in processes of their own.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { program } from "./installed.mjs";

const CHILD_MS_MAX = 30_000;

/** What `args` print as JSON when they run in `root`, with Leat registered. */
function printed(root, args, flag = "--import") {
    const { status, stdout, stderr } = spawnSync(process.execPath, [flag, "leat/register", ...args], { cwd: root, encoding: "utf8", timeout: CHILD_MS_MAX });
    assert.equal(stderr, "");
    assert.equal(status, 0);
    return JSON.parse(stdout);
}

const five = { ".": { version: "5.1.0" } };
const four = { ".": { version: "4.21.2" } };
const show = (value) => `console.log(JSON.stringify(${value}));`;

const WHICH = `(express) => express === require("leat/express") ? 5 : express === require("leat/express4") ? 4 : "another"`;
const commonjs = show(`(${WHICH})(require("express"))`);
const esm = `import express, * as all from "express"; import { createRequire } from "node:module";
    const require = createRequire(import.meta.url); ${show(`(${WHICH})(express)`)}`;
const dynamic = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);
    const { default: express } = await import("express"); ${show(`(${WHICH})(express)`)}`;

const FORMS = { "require('express')": ["app.cjs", commonjs], "import express": ["app.mjs", esm], "import('express')": ["dynamic.mjs", dynamic] };

for (const [form, [file, text]] of Object.entries(FORMS)) {
    for (const flag of ["--import", "--require"]) {
        for (const [what, versions, expected] of [["express 5", five, 5], ["express 4", four, 4], ["no express", {}, 5]]) {
            test(`${form} with ${what} installed, ${flag}`, (t) => {
                const root = program(t, { files: { [file]: text }, versions });
                assert.equal(printed(root, [file], flag), expected);
            });
        }
    }
}

test("each requirer gets the major version that it would have had", (t) => {
    const files = {
        "app.cjs": show(`[${WHICH}, ${WHICH}].map((which, at) => which(at === 0 ? require("express") : require("old")))`),
        "node_modules/old/package.json": JSON.stringify({ name: "old", main: "index.js" }),
        "node_modules/old/index.js": 'module.exports = require("express");',
    };
    const root = program(t, { files, versions: { ...five, "node_modules/old": { version: "4.17.0" } } });
    assert.deepEqual(printed(root, ["app.cjs"]), [5, 4]);
});

test("named imports are those of the module", (t) => {
    const text = `import express, { application, json, request, response, Router, urlencoded } from "express";
        ${show("Object.entries({ application, json, request, response, Router, urlencoded }).every(([name, value]) => value !== undefined && value === express[name])")}`;
    for (const versions of [five, four, {}]) assert.equal(printed(program(t, { files: { "app.mjs": text }, versions }), ["app.mjs"]), true);
});

test("a program finds express's name, version and path where they are", (t) => {
    const text = show(`[require("express/package.json").version, require.resolve("express"), require("express") === require.cache[require.resolve("express")].exports]`);
    const root = program(t, { files: { "app.cjs": text }, versions: five });
    assert.deepEqual(printed(root, ["app.cjs"]), ["5.1.0", `${root}/node_modules/express/index.js`, true]);
});

const PARTS = {
    5: {
        "express/lib/express": "express",
        "express/lib/application": "express.application",
        "express/lib/request": "express.request",
        "express/lib/response.js": "express.response",
        "express/lib/view": "express().get('view')",
        router: "express.Router",
        "router/lib/layer": "((app) => (app.get('/', () => {}), app.router.stack[0].constructor))(express())",
        "router/lib/route": "express.Route",
    },
    4: {
        "express/lib/express": "express",
        "express/lib/application": "express.application",
        "express/lib/request": "express.request",
        "express/lib/response": "express.response",
        "express/lib/router": "express.Router",
        "express/lib/router/index.js": "express.Router",
        "express/lib/router/route": "express.Route",
        "express/lib/router/layer": "((app) => (app.get('/', () => {}), app._router.stack[0].constructor))(express())",
        "express/lib/middleware/query": "express.query",
        "express/lib/view": "express().get('view')",
    },
};
for (const [major, parts] of Object.entries(PARTS)) {
    test(`the parts of express ${major} are what its apps are made of`, (t) => {
        // Each first in a process of its own would hide a wrong order; here the parts come before the whole.
        const ids = JSON.stringify(Object.keys(parts));
        const text = `const parts = ${ids}.map((id) => require(id)); const express = require("express");
            ${show(`[${Object.values(parts).join(", ")}].map((value, at) => value !== undefined && value === parts[at])`)}`;
        const root = program(t, { files: { "app.cjs": text }, versions: major === "5" ? five : four });
        assert.deepEqual(printed(root, ["app.cjs"]), Object.values(parts).map(() => true));
    });
}

/** A path-to-regexp that knows one path. */
const knows = (path) => `module.exports = (path, keys, options) => {
    if (path === "/") return options.end === false ? /^(?=\\/)/ : /^\\/$/;
    if (path !== ${JSON.stringify(path)}) throw new SyntaxError("not mine");
    keys.push({ name: "all", optional: false, offset: 0 });
    return /^\\/(.*)$/;
};`;
const old = "node_modules/express/node_modules/path-to-regexp/index.js";
const paramsAt = (paths) => `const found = [];
    const router = require("express").Router();
    for (const path of ${JSON.stringify(paths)}) {
        try {
            router.get(path, (req, res, next) => (found.push(req.params), next()));
        } catch (error) {
            found.push(error.message);
        }
    }
    router.handle({ url: "/a-b/c-d", method: "GET" }, {}, () => { ${show("found")} });`;

test("paths of Express 4 mean what they mean to the program's own path-to-regexp", (t) => {
    const files = { "app.cjs": paramsAt(["(:all/)?:more", "/:a-:b/:c"]), [old]: knows("(:all/)?:more") };
    assert.deepEqual(printed(program(t, { files, versions: four }), ["app.cjs"]), ["not mine", { all: "a-b/c-d" }]);
});

test("groups for which an old path-to-regexp has no keys are numbered", (t) => {
    const files = { "app.cjs": paramsAt(["/:name-*"]), [old]: knows("/:name-*").replace("(.*)$/", "(.*)-(.)\\/(.)(.*)$/") };
    assert.deepEqual(printed(program(t, { files, versions: four }), ["app.cjs"]), [{ 0: "b", 1: "c", 2: "-d", all: "a" }]);
});

test("of two copies of Express 4, each brings its path-to-regexp", (t) => {
    const files = {
        "app.cjs": `require("old"); ${paramsAt(["(first/)?:x", "(second/)?:x", "(third/)?:x"])}`,
        "node_modules/old/package.json": JSON.stringify({ name: "old", main: "index.js" }),
        "node_modules/old/index.js": 'module.exports = require("express");',
        [`node_modules/old/${old}`]: knows("(first/)?:x"),
        [old]: knows("(second/)?:x"),
    };
    const root = program(t, { files, versions: { ...four, "node_modules/old": { version: "4.17.0" } } });
    assert.deepEqual(printed(root, ["app.cjs"]), ["not mine", { all: "a-b/c-d" }, { all: "a-b/c-d" }]);
});

test("an Express 4 without its path-to-regexp has Leat's", (t) => {
    for (const files of [{}, { [old]: "module.exports = 5;" }]) {
        const root = program(t, { files: { "app.cjs": paramsAt(["/:a-:b/:c"]), ...files }, versions: four });
        assert.deepEqual(printed(root, ["app.cjs"]), [{ a: "a", b: "b", c: "c-d" }]);
    }
});

test("what has no state stays the installed one's", (t) => {
    const root = program(t, { files: { "app.cjs": show('require("express/lib/utils")') }, versions: five });
    assert.deepEqual(printed(root, ["app.cjs"]), { own: true });
});

for (const [what, versions] of [
    ["Express 3", { ".": { version: "3.21.2" } }],
    ["Express 6", { ".": { version: "6.0.0" } }],
    ["another package under its name", { ".": { name: "ultimate-express", version: "5.0.0" } }],
]) {
    test(`${what} is not mapped`, (t) => {
        const text = `try { require("express"); } catch (error) { ${show("error.message")} }`;
        assert.equal(printed(program(t, { files: { "app.cjs": text }, versions }), ["app.cjs"]), "the installed express was loaded");
    });
}

test("a package that is missing is still missing", (t) => {
    const text = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);
        const codes = []; try { require("nowhere"); } catch (error) { codes.push(error.code); } try { await import("nowhere"); } catch (error) { codes.push(error.code); }
        ${show("codes")}`;
    assert.deepEqual(printed(program(t, { files: { "app.mjs": text } }), ["app.mjs"]), ["MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND"]);
});

test("tools that hook `require` by name see the parts as they are required", (t) => {
    // As require-in-the-middle does it.
    const text = `const Module = require("module"); const original = Module.prototype.require; const seen = [];
        Module.prototype.require = function (id) { const exports = original.call(this, id); const path = Module._resolveFilename(id, this);
            const at = path.indexOf("/node_modules/"); if (at >= 0 && !path.includes("/leat/")) seen.push(path.slice(at + 14)); return exports; };
        const express = require("express"); ${show("seen")}`;
    const inner = [
        "express/lib/view.js",
        "router/lib/layer.js",
        "router/lib/layer.js",
        "router/lib/route.js",
        "router/index.js",
        "express/lib/application.js",
        "router/index.js",
        "express/lib/request.js",
        "express/lib/response.js",
        "express/lib/express.js",
        "express/index.js",
    ];
    assert.deepEqual(printed(program(t, { files: { "app.cjs": text }, versions: five }), ["app.cjs"]), inner);
});

test("loaders of other kinds of files that come later keep working", (t) => {
    const text = `const Module = require("module"); const js = Module._extensions[".js"]; const compiled = [];
        Module._extensions[".js"] = (module, filename) => { compiled.push(filename.split("/").pop()); js(module, filename); };
        const express = require("express"); require("./other.js");
        ${show(`[(${WHICH})(express), compiled.includes("other.js"), Module._extensions[".js"] !== js]`)}`;
    assert.deepEqual(printed(program(t, { files: { "app.cjs": text, "other.js": "" }, versions: five }), ["app.cjs"]), [5, true, true]);
});

test("an app answers from Leat's server without a word about Leat", (t) => {
    const text = `import express from "express"; import http from "node:http";
        const app = express(); app.get("/:name", (req, res) => res.json({ name: req.params.name }));
        const server = app.listen(0, "127.0.0.1", () => http.get({ port: server.address().port, path: "/a", agent: false }, async (reply) => {
            let body = ""; for await (const chunk of reply) body += chunk;
            server.close(() => { ${show("[body, server instanceof http.Server]")} });
        }));`;
    assert.deepEqual(printed(program(t, { files: { "app.mjs": text }, versions: five }), ["app.mjs"]), ['{"name":"a"}', true]);
});
