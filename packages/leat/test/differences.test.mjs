// docs/reference/http.md has every request of the corpus that one of node:http and leat/http refuses and the other serves.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import nodeHttp from "node:http";
import { test } from "node:test";
import * as leatHttp from "leat/http";
import { differences, REFUSED_BY_LEAT } from "./differences/play.mjs";
import { namedCases, refusedReasons } from "./reference/differences_page.mjs";

const TEST_MS_MAX = 120_000;
/** The Node.js whose differences the page tells; newer ones have mended some. */
const NODE_MAJOR = 20;

const MAJOR = Number.parseInt(process.versions.node, 10);
/** What only newer ones refuse; the page says so in words. */
const NEWER_REFUSE = MAJOR >= 22 ? ["limit.fields_that_do_not_end"] : [];

const page = readFileSync(new URL("../../../docs/reference/http.md", import.meta.url), "utf8");

test("requests of the corpus", { timeout: TEST_MS_MAX }, async (t) => {
    const found = await differences(nodeHttp, leatHttp);
    const refused = found.filter(({ kind }) => kind === REFUSED_BY_LEAT);
    const others = found.filter(({ kind }) => kind !== REFUSED_BY_LEAT);
    const [reasons, names] = [refusedReasons(page), [...namedCases(page), ...NEWER_REFUSE]];

    await t.test("what Leat alone refuses has a reason that the page tells", () => {
        const untold = refused.filter((one) => !one.reasons.some((reason) => reasons.includes(reason)));
        assert.deepEqual(untold, []);
    });
    await t.test("every other difference is named", () => {
        assert.deepEqual(others.filter(({ name }) => !names.includes(name)), []);
    });
    if (MAJOR !== NODE_MAJOR) return;
    await t.test("the page tells of nothing that is not so", () => {
        const seen = new Set(refused.flatMap((one) => one.reasons));
        assert.deepEqual(reasons.filter((reason) => !seen.has(reason)), []);
        assert.deepEqual(names.filter((name) => !others.some((other) => other.name === name)), []);
    });
});
