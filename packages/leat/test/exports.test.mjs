// How programs get at the package: by import and by require, through the names that it exports and no others.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import http, { createServer, IncomingMessage, METHODS, Server, ServerResponse, STATUS_CODES } from "leat/http";
import * as namespace from "leat/http";

const require = createRequire(import.meta.url);
const required = require("leat/http");

const named = { createServer, IncomingMessage, METHODS, Server, ServerResponse, STATUS_CODES };

for (const [name, value] of Object.entries(named)) {
    test(`${name} is one and the same however it is imported`, () => {
        assert.notEqual(value, undefined);
        assert.equal(required[name], value);
        assert.equal(http[name], value);
        assert.equal(namespace[name], value);
    });
}

test("a default import that was compiled to CommonJS is the module", () => {
    assert.equal(required.__esModule, true, "compilers then read the property `default`");
    assert.equal(required.default, required);
});

test("the messages of node:http are exported, since those of servers are instances of them", () => {
    const node = require("node:http");
    assert.equal(IncomingMessage, node.IncomingMessage);
    assert.equal(ServerResponse, node.ServerResponse);
});

test("leat/gateway has the same members by import and by require", async () => {
    const members = ["body", "counter", "upstream"];
    const imported = await import("leat/gateway");
    assert.deepEqual(Object.keys(require("leat/gateway")).sort(), members);
    for (const name of members) assert.equal(imported[name], require("leat/gateway")[name], name);
});

test("leat/middleware has the same members by import and by require, and nothing else", async () => {
    const members = ["MiddlewareError", "compile", "middleware", "patchHeaders", "patchRequest", "patchResponse", "slot"];
    const imported = await import("leat/middleware");
    assert.deepEqual(Object.keys(require("leat/middleware")).sort(), members);
    for (const name of members) assert.equal(imported[name], require("leat/middleware")[name], name);
});

test("leat/transport and its kit have the same members by import and by require", async () => {
    for (const path of ["leat/transport", "leat/transport/kit"]) {
        const imported = await import(path);
        const members = Object.keys(require(path));
        assert.ok(members.length > 1, path);
        for (const name of members) assert.equal(imported[name], require(path)[name], name);
    }
    assert.ok(Object.keys(require("leat/transport")).includes("Transport"));
});

test("package.json may be read by tools", () => assert.equal(require("leat/package.json").name, "leat"));

for (const path of ["leat", "leat/dist/http/index.js", "leat/middleware/plan", "leat/transport/policy/retry", "leat/native/load"]) {
    test(`${path} is not exported`, async () => {
        assert.throws(() => require(path), { code: "ERR_PACKAGE_PATH_NOT_EXPORTED" });
        await assert.rejects(import(path), { code: "ERR_PACKAGE_PATH_NOT_EXPORTED" });
    });
}
