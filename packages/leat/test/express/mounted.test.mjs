// What a mounted app's middleware sees of its requests, whether or not their prototypes had to change.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import express from "leat/express";
import express4 from "leat/express4";
import { listening, textOf } from "./served.mjs";

for (const [name, make] of [["express", express], ["express4", express4]]) {
    /** An app that notes which app each request belongs to, before, inside and after two nested apps. */
    function nested(extend) {
        const [outer, middle, inner] = [make(), make(), make()];
        const names = new Map([[outer, "outer"], [middle, "middle"], [inner, "inner"]]);
        const seen = [];
        const note = (req, res, next) => {
            seen.push(`${names.get(req.app)} ${names.get(res.app)} ${req.extra} ${res.extra}`);
            next();
        };
        inner.use(note);
        middle.use(note, inner, note);
        outer.use(note, middle, note, (req, res) => res.json(seen));
        extend?.({ outer, middle, inner });
        return outer;
    }

    const plain = ["outer", "middle", "inner", "middle", "outer"].map((app) => `${app} ${app} undefined undefined`);

    test(`${name}: req.app and res.app are those of the app that is being asked`, async () => {
        await listening(nested(), async (port) => assert.deepEqual(JSON.parse(await textOf(port, "/")), plain));
    });

    test(`${name}: the same on node:http`, async () => {
        await listening(createServer(nested()), async (port) => assert.deepEqual(JSON.parse(await textOf(port, "/")), plain));
    });

    test(`${name}: what a mounted app adds to its prototypes is there inside of it, and nowhere else`, async () => {
        const app = nested(({ inner }) => {
            inner.request.extra = "more";
            inner.response.extra = "more";
        });
        const expected = plain.with ? plain.with(2, "inner inner more more") : plain.map((line, i) => (i === 2 ? "inner inner more more" : line));
        await listening(app, async (port) => assert.deepEqual(JSON.parse(await textOf(port, "/")), expected));
    });

    test(`${name}: what is added while requests come is there from the next one`, async () => {
        let mounted;
        const app = nested(({ middle }) => (mounted = middle));
        await listening(app, async (port) => {
            await textOf(port, "/");
            mounted.request.extra = "late";
            const lines = JSON.parse(await textOf(port, "/")).slice(5);
            assert.deepEqual(lines.map((line) => line.split(" ")[2]), ["undefined", "late", "late", "late", "undefined"]);
        });
    });

    test(`${name}: no prototype is set while Leat serves apps whose prototypes are plain`, async () => {
        const app = nested();
        await listening(app, async (port) => {
            const { setPrototypeOf } = Object;
            let set = 0;
            Object.setPrototypeOf = (object, prototype) => {
                if (prototype === app.request || prototype === app.response || "app" in Object(prototype)) set++;
                return setPrototypeOf(object, prototype);
            };
            try {
                await textOf(port, "/");
                await textOf(port, "/");
            } finally {
                Object.setPrototypeOf = setPrototypeOf;
            }
            assert.equal(set, 0);
        });
    });
}
