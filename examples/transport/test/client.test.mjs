// The example does what its README says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { started } from "../../node-http/test/started.mjs";

const TEST_MS_MAX = 60_000;
const options = { timeout: TEST_MS_MAX };
const folder = fileURLToPath(new URL("..", import.meta.url));

test("a busy depot is asked again, a token is renewed, and an order is sent once", options, async (t) => {
    const { base, said } = await started(t, folder);
    const ask = async (path) => {
        const response = await fetch(`${base}${path}`);
        return [response.status, await response.json()];
    };
    assert.deepEqual(await ask("/items/flour"), [200, { name: "flour", grams: 1000 }]);
    assert.deepEqual(await ask("/items/flour"), [200, { name: "flour", grams: 1000 }]);
    assert.deepEqual(await ask("/items/gold"), [404, {}]);
    assert.deepEqual(await ask("/leaflet"), [200, { letters: 14_000 }]);
    for (let number = 1; number <= 3; number++) assert.deepEqual(await ask("/order/bran"), [200, { number, name: "bran", count: 1 }]);
    // Seven calls; the depot was busy twice, and refused the one token after five calls.
    assert.deepEqual(await ask("/stats"), [200, { calls: 7, tries: 10, tokens: 2, busy: 2, orders: 3 }]);
    assert.deepEqual(said, []);
});
