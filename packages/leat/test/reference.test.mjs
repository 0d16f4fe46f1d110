// docs/reference/http-options.md, http-metrics.md, express.md, transport.md and the end of http.md say what is so. `UPDATE=1 node --test packages/leat/test/reference.test.mjs` writes them.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import nodeHttp from "node:http";
import { test } from "node:test";
import { createServer } from "leat/http";
import { withExceptions } from "./reference/differences_page.mjs";
import { metricsPage } from "./reference/metrics_page.mjs";
import { expressPage } from "./reference/express_page.mjs";
import { HTTP } from "./reference/options.mjs";
import { GROUPS, page, refusal } from "./reference/page.mjs";
import { transportPage } from "./reference/transport_page.mjs";

const docs = new URL("../../../docs/reference/", import.meta.url);

function upToDate(name, text) {
    const path = new URL(name, docs);
    if (process.env.UPDATE !== undefined) writeFileSync(path, text);
    assert.equal(readFileSync(path, "utf8"), text, "stale; run: UPDATE=1 node --test packages/leat/test/reference.test.mjs");
}

for (const [title, found, table] of GROUPS) {
    test(`every option of ${title} is served, ignored with a reason, or refused`, () => {
        const unknown = found.filter((name) => table[name] === undefined && (title === "`listen`" || refusal(name) === undefined));
        assert.deepEqual(unknown, []);
        const gone = Object.keys(table).filter((name) => !found.includes(name) && !table[name].leat);
        assert.deepEqual(gone, [], "the table has options that are none");
        for (const [name, { served, note }] of Object.entries(table)) assert.ok(note, `${name}${served === false ? " is ignored without a reason" : ""}`);
    });
}

test("a server has the defaults that the table tells, and Node's", () => {
    const [ours, nodes] = [createServer(), nodeHttp.createServer()];
    for (const [name, { default: value, property }] of Object.entries(HTTP)) {
        if (!property) continue;
        assert.equal(ours[name], value, name);
        assert.equal(ours[name], nodes[name], name);
    }
});

test("the page of options is up to date", () => upToDate("http-options.md", page()));

test("the page of differences has every exception of the differential table", () => {
    upToDate("http.md", withExceptions(readFileSync(new URL("http.md", docs), "utf8")));
});

test("the page of metrics is up to date", async (t) => {
    // Labels of lanes are seen where there is one.
    const server = createServer().listen(0, "127.0.0.1");
    t.after(() => server.close());
    await once(server, "listening");
    upToDate("http-metrics.md", metricsPage());
});

test("the page of leat/express is up to date, and has every member that there is and no other", async () => {
    const { page: text, unknown, gone } = await expressPage();
    assert.deepEqual(unknown, [], "write what they are into express_members.mjs");
    assert.deepEqual(gone, [], "express_members.mjs has members that are none");
    upToDate("express.md", text);
});

test("the page of leat/transport is up to date, and has all options that there are", () => {
    const { page: text, missing, gone } = transportPage();
    assert.deepEqual(missing, [], "name them in transport_page.mjs");
    assert.deepEqual(gone, [], "transport_page.mjs has names that are none");
    upToDate("transport.md", text);
});
