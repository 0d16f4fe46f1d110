// What crosses to the engine is held against what is there, and a batch that is refused keeps nothing.
import assert from "node:assert/strict";
import { closeSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const require = createRequire(import.meta.url);
const { addon } = require("../../dist/native/load.js");
const { OUT_WORDS } = require("../../dist/native/records.js");

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");

const native = addon();
const words = new Uint32Array(2 * OUT_WORDS);
const { lane, fd } = native.attach(words, new Uint32Array(6));
closeSync(fd);

/** Longer than what is copied: the engine would send it from where it is. */
const LONG_BYTES = 1 << 20;

/** Turns of the event loop in which what nobody keeps is collected: the second one does. */
const TURNS_MAX = 100;

const refused = [
    ["a buffer that is none", 1, "", () => [Buffer.alloc(LONG_BYTES), "text"]],
    ["a buffer that is none, behind several", 1, "", () => [Buffer.alloc(LONG_BYTES), Buffer.alloc(LONG_BYTES), undefined]],
    ["less text than the records say", 1, "short", () => [Buffer.alloc(LONG_BYTES)]],
    ["more records than words", 3, "", () => [Buffer.alloc(LONG_BYTES)]],
];

for (const [name, count, text, make] of refused) {
    test(`refuses ${name}, and keeps no buffer`, async () => {
        words[2] = text.length * 2;
        const gone = new Set();
        const registry = new FinalizationRegistry((index) => gone.add(index));
        const offer = () => {
            const buffers = make();
            const long = buffers.filter((buffer) => buffer instanceof Uint8Array);
            long.forEach((buffer, index) => registry.register(buffer, index));
            assert.throws(() => native.flush(lane, count, text, buffers), { code: "LEAT_ARGUMENT" });
            return long.length;
        };
        const long = offer();
        for (let turn = 0; turn < TURNS_MAX && gone.size < long; turn++) {
            gc();
            await new Promise(setImmediate);
        }
        assert.equal(gone.size, long, "the buffers are collected");
    });
}
