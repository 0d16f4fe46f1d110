// A short run of what `make soak ONLY=replies` does for longer, with its memory checked.
import assert from "node:assert/strict";
import test from "node:test";
import { hammer } from "./random/replies.mjs";

const REQUESTS = 1000;

test("whatever programs do to replies, the process lives and answers", { timeout: 120_000 }, async () => {
    assert.ok((await hammer({ seed: 1, isOver: (requests) => requests >= REQUESTS })) >= REQUESTS);
});
