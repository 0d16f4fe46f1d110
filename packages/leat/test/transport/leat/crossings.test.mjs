// What a call costs in crossings between JavaScript's thread and the engine's, held against the committed table.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { row } from "../../counts/table.mjs";
import { start } from "../../child.mjs";

for (const [name, atOnce] of [["one at a time", 1], ["64 at once", 64]]) {
    test(`crossings of a call: ${name}`, async (t) => {
        const server = createServer((_request, response) => response.end("hello"));
        server.listen(0, "127.0.0.1");
        await once(server, "listening");
        t.after(() => {
            server.closeAllConnections();
            server.close();
        });
        const child = start(new URL("crossings.mjs", import.meta.url), [server.address().port, atOnce]);
        const found = JSON.parse(await child.line("counts"));
        assert.equal((await child.exit).code, 0);
        t.diagnostic(JSON.stringify(found));
        assert.equal(found.calls, 1);
        const most = row("Calls", name);
        for (const what of ["wake-ups", "flushes"]) assert.ok(found[what] <= most[what], `${found[what]} ${what} for each call, the table has ${most[what]} at most`);
    });
}
