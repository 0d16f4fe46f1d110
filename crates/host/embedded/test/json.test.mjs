// The JSON of replies is written without JSON.stringify where values are plain: it must be the same to a byte.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { get } from "node:http";
import test from "node:test";
import { folder, start } from "./started.mjs";

/** One list for both sides: functions, so that each side makes values of its own. */
const VALUES = `[
    () => ({ hello: "world" }),
    () => null, () => true, () => [], () => ({}), () => "text", () => 0, () => -0, () => 1e21, () => 0.1, () => -1.5e-7, () => NaN, () => [Infinity, -Infinity],
    () => 2 ** 31, () => -(2 ** 31), () => 2 ** 53,
    () => Array.from({ length: 0x300 }, (_, code) => String.fromCharCode(code)),
    () => ["\\u2028\\u2029", "\\ud83d\\ude00", "ü€", "\\ud800", "\\udc00a", '"\\\\/'],
    () => ({ "\\u0001": 1, 'a"b': 2, "ü": 3, "\\ud800": 4 }),
    () => ({ b: 1, 2: 2, a: 3, 1: 4, "-1": 5, "01": 6 }),
    () => ({ a: undefined, b: () => 1, c: Symbol("s"), d: 1, [Symbol("k")]: 2 }),
    () => [undefined, () => 1, Symbol("s"), 1],
    () => ({ all: { left: undefined } }),
    () => [, 1, , 2],
    () => Object.assign([1, 2], { more: 3 }),
    () => ({ toJSON: () => ({ own: true }) }),
    () => ({ at: new Date(0), map: new Map([[1, 2]]), set: new Set([1]), expression: /a/g, error: new Error("e") }),
    () => [new Number(1), new String("s"), new Boolean(false)],
    () => { class Point { constructor() { this.x = 1; } get y() { return 2; } } return new Point(); },
    () => { class Named { toJSON() { return "named"; } } return [new Named()]; },
    () => Object.assign(Object.create(null), { bare: 1 }),
    () => Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true }, hidden: { value: 3 } }),
    () => { let count = 0; return [{ get next() { return ++count; } }, { get next() { return ++count; } }, new Date(0)]; },
    () => new Proxy({ a: 1 }, {}),
    () => new Proxy([1, 2], {}),
    () => Object.assign(() => 1, { toJSON: () => "function" }),
    () => ({ f: Object.assign(() => 1, { toJSON: () => "function" }) }),
    () => new Uint16Array([1, 2]),
    () => { let deep = 1; for (let at = 0; at < 100; at++) deep = { deep: [deep] }; return deep; },
    () => ({ long: "x".repeat(70000) }),
    () => Array.from({ length: 5000 }, (_, at) => ({ at, text: "item " + at })),
    () => { const round = {}; round.round = round; return round; },
    () => ({ big: 1n }),
]`;

const APP = `
const express = require("express");
const app = express();
const values = ${VALUES};
app.get("/:at", (req, res) => res.json(values[req.params.at]()));
app.use((error, req, res, next) => res.status(500).send(error.name));
app.listen(0, "127.0.0.1", function () { console.log("listening " + this.address().port); });
`;

function ask(port, path) {
    return new Promise((resolve, reject) => {
        get({ port, host: "127.0.0.1", path, agent: false }, (reply) => {
            const pieces = [];
            reply.on("data", (piece) => pieces.push(piece)).on("end", () => resolve({ status: reply.statusCode, fields: reply.headers, body: Buffer.concat(pieces) }));
        }).on("error", reject);
    });
}

const values = new Function(`return ${VALUES}`)();

function expected(value) {
    try {
        return JSON.stringify(value);
    } catch (error) {
        return error;
    }
}

test("res.json writes what JSON.stringify writes", { timeout: 60_000 }, async (t) => {
    const port = await start(t, folder(t, { "app.cjs": APP }), ["app.cjs"]).port();
    for (const [at, make] of values.entries()) {
        await t.test(make.toString().slice(0, 80), async () => {
            const { status, fields, body } = await ask(port, `/${at}`);
            const text = expected(make());
            if (text instanceof Error) {
                assert.deepEqual([status, body.toString()], [500, text.name]);
                return;
            }
            assert.equal(body.toString(), text);
            const bytes = Buffer.from(text);
            const digest = createHash("sha1").update(bytes).digest("base64").slice(0, 27);
            assert.equal(fields.etag, `W/"${bytes.length.toString(16)}-${digest}"`);
            assert.equal(fields["content-length"], String(bytes.length));
            assert.equal(fields["content-type"], "application/json; charset=utf-8");
            assert.equal(fields["x-powered-by"], "Express");
        });
    }
});

const AFTER = `
const express = require("express");
const app = express();
app.get("/", (req, res) => {
    res.set("X-A", "1").json({ a: 1 });
    console.log(JSON.stringify([res.headersSent, res.statusMessage, res.finished, res.get("etag"), res.getHeaders(), res.getHeaderNames(), res.hasHeader("content-length")]));
});
app.listen(0, "127.0.0.1", function () { console.log("listening " + this.address().port); });
`;

test("a reply that was sent in one step shows its fields", { timeout: 30_000 }, async (t) => {
    const program = start(t, folder(t, { "app.cjs": AFTER }), ["app.cjs"]);
    const { fields } = await ask(await program.port(), "/");
    const [, told] = await program.line(/^(\[.*\])$/m);
    assert.deepEqual(JSON.parse(told), [
        true,
        "OK",
        true,
        fields.etag,
        { "x-powered-by": "Express", "x-a": "1", "content-type": "application/json; charset=utf-8", "content-length": "7", etag: fields.etag },
        ["x-powered-by", "x-a", "content-type", "content-length", "etag"],
        true,
    ]);
});
