// Each fault is there in @elastic/transport 9.4.0, and not in Leat: a play that the reference passed would prove nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FAULTS } from "./faults.mjs";
import { leat } from "./leat.mjs";
import { reference } from "./reference.mjs";

for (const fault of FAULTS) {
    test(`the reference does not hold to it: ${fault.name}`, async (t) => assert.deepEqual(await fault.play(t, reference), fault.reference));
    test(`Leat: ${fault.name}`, async (t) => assert.deepEqual(await fault.play(t, leat), fault.leat));
}
