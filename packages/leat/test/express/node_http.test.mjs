// Apps that Node's own server serves, as tests with supertest do it.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import express from "leat/express";
import express4 from "leat/express4";
import { ask, listening } from "./served.mjs";

const CHANGE_MS_MAX = 5_000;

for (const [name, make] of [["express", express], ["express4", express4]]) {
    test(`${name}: the Date field goes with the time`, async () => {
        const app = make();
        app.get("/", (req, res) => res.json({}));
        await listening(createServer(app), async (port) => {
            const { date } = (await ask(port, "/")).headers;
            const end = performance.now() + CHANGE_MS_MAX;
            for (;;) {
                const now = (await ask(port, "/")).headers.date;
                if (now !== date) break;
                assert.ok(performance.now() < end, `${now} for ${CHANGE_MS_MAX} ms`);
            }
        });
    });

    test(`${name}: a reply is the same as on Leat`, async () => {
        const app = make();
        app.get("/", (req, res) => res.json({ hello: "wörld" }));
        const replies = [];
        for (const server of [app, createServer(app)]) {
            replies.push(await listening(server, (port) => ask(port, "/")));
            delete replies.at(-1).headers.date;
        }
        assert.deepEqual(replies[0], replies[1]);
    });
}
