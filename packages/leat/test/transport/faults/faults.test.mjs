// Each fault is there in @elastic/transport 9.4.0, and not in Leat: a play that the reference passed would prove nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FAULTS } from "./faults.mjs";
import { reference } from "./reference.mjs";

for (const { name, play, reference: facts } of FAULTS) {
    test(`the reference has this fault: ${name}`, async (t) => assert.deepEqual(await play(t, reference), facts));
}
