// A short soak: the long one is `make soak ONLY=leat-http`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "../child.mjs";

test("after 20,000 requests of all kinds everything is back at the start", async (t) => {
    const { code, signal, stdout, stderr } = await start(new URL("soak.mjs", import.meta.url), ["--requests", "20000"], { lifeMs: 90_000 }).exit;
    t.diagnostic(stdout.trim().split("\n").at(-1));
    assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: "" }, stdout);
});
