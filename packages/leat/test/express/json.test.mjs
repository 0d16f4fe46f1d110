// express.json, whichever way a body comes: as a whole past the request's stream, or through it.
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { test } from "node:test";
import express from "leat/express";
import express4 from "leat/express4";
import { ask, connected, listening } from "./served.mjs";

const TYPE = { "Content-Type": "application/json" };

/** Sends `first`, waits until the app has the request, sends `second`, and gives what comes back until the end. */
async function inTwo(port, arrived, first, second) {
    const socket = await connected(port);
    const chunks = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", () => {});
    socket.write(first);
    await arrived;
    if (second === undefined) socket.destroy();
    else socket.write(second);
    if (!socket.destroyed) await once(socket, "close");
    return Buffer.concat(chunks).toString();
}

function head(length) {
    return `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
}

for (const [name, make] of [["express", express], ["express4", express4]]) {
    /** An app that parses with `options` and shows what it got; `before` comes first. */
    function echo(options, before = (req, res, next) => next()) {
        const app = make();
        app.set("env", "test");
        app.use(before, make.json(options), (req, res) => res.json({ body: req.body ?? null, ended: req.readableEnded, complete: req.complete, marked: req._body === true }));
        // eslint-disable-next-line @typescript-eslint/no-unused-vars -- Express tells a handler of errors by its four arguments
        app.use((error, req, res, next) => res.status(error.status).json({ type: error.type, message: error.message, body: error.body }));
        return app;
    }

    const post = (port, body, headers = TYPE) => ask(port, "/", { method: "POST", headers: { ...headers, "Content-Length": Buffer.byteLength(body) }, body });

    const bodies = [
        ["an object", '{"a":[1,"ü"]}', { a: [1, "ü"] }],
        ["an array", "[1,2]", [1, 2]],
        ["white space around it", ' {"a":1}\n', { a: 1 }],
        ["more than is taken as a whole", JSON.stringify({ a: "x".repeat(20_000) }), { a: "x".repeat(20_000) }],
    ];
    for (const [what, text, body] of bodies) {
        test(`${name}: ${what} is parsed, and the stream has ended`, async () => {
            await listening(echo(), async (port) => {
                const reply = await post(port, text);
                assert.deepEqual(JSON.parse(reply.text), { body, ended: true, complete: true, marked: make === express4 });
            });
        });
    }

    const wrong = [
        ["broken JSON", '{"a":', undefined, 400, "entity.parse.failed"],
        ["a primitive", "1", undefined, 400, "entity.parse.failed"],
        ["more than the limit", '{"a":"0123456789"}', { limit: "10b" }, 413, "entity.too.large"],
        ["more than the limit as a number", '{"a":"0123456789"}', { limit: 10 }, 413, "entity.too.large"],
        ["what a check refuses", '{"a":1}', { verify: () => assert.fail("no") }, 403, "entity.verify.failed"],
    ];
    for (const [what, text, options, status, type] of wrong) {
        test(`${name}: ${what} is an error`, async () => {
            await listening(echo(options), async (port) => {
                const reply = await post(port, text);
                assert.equal(reply.status, status);
                assert.equal(JSON.parse(reply.text).type, type);
            });
        });
    }

    const others = [
        ["another type", { "Content-Type": "text/plain" }, make === express ? null : {}],
        ["a charset that is no UTF", { "Content-Type": "application/json; charset=latin1" }, undefined],
        ["a charset in capitals", { "Content-Type": "Application/JSON; charset=UTF-8" }, { a: 1 }],
    ];
    for (const [what, headers, body] of others) {
        test(`${name}: ${what}`, async () => {
            await listening(echo(), async (port) => {
                const reply = await post(port, '{"a":1}', headers);
                assert.equal(reply.status, body === undefined ? 415 : 200);
                assert.deepEqual(JSON.parse(reply.text).body, body);
            });
        });
    }

    test(`${name}: values that are no objects are taken where the app says so`, async () => {
        await listening(echo({ strict: false }), async (port) => assert.equal(JSON.parse((await post(port, "7")).text).body, 7));
    });

    test(`${name}: a body in two pieces`, async () => {
        const { promise, resolve } = deferred();
        await listening(echo(undefined, (req, res, next) => (next(), resolve())), async (port) => {
            const reply = await inTwo(port, promise, `${head(7)}{"a"`, ":1}");
            assert.match(reply, /^HTTP\/1\.1 200 .*"body":\{"a":1\},"ended":true/s);
        });
    });

    test(`${name}: a body behind its head`, async () => {
        const { promise, resolve } = deferred();
        await listening(echo(undefined, (req, res, next) => (next(), resolve())), async (port) => {
            const reply = await inTwo(port, promise, head(7), '{"a":1}');
            assert.match(reply, /^HTTP\/1\.1 200 .*"body":\{"a":1\},"ended":true/s);
        });
    });

    test(`${name}: a client that goes before its body is an error`, async () => {
        const { promise, resolve } = deferred();
        const app = make();
        const failed = deferred();
        app.use((req, res, next) => (next(), resolve()), make.json(), () => assert.fail("there is no body"));
        // eslint-disable-next-line @typescript-eslint/no-unused-vars -- as above
        app.use((error, req, res, next) => failed.resolve(error));
        await listening(app, async (port) => {
            await inTwo(port, promise, `${head(7)}{"a"`, undefined);
            const error = await failed.promise;
            assert.deepEqual([error.type, error.status, error.message], ["request.aborted", 400, "request aborted"]);
        });
    });

    test(`${name}: the next middleware runs in the context of the one before`, async () => {
        const storage = new AsyncLocalStorage();
        const app = make();
        app.use((req, res, next) => storage.run(req.headers.tag, next), make.json(), (req, res) => res.send(`${storage.getStore()} ${req.body.a}`));
        await listening(app, async (port) => {
            const replies = await Promise.all([1, 2, 3].map((n) => post(port, `{"a":${n}}`, { ...TYPE, tag: `t${n}` })));
            assert.deepEqual(replies.map((reply) => reply.text), ["t1 1", "t2 2", "t3 3"]);
        });
    });

    test(`${name}: who listened before hears the stream, and so does who listens to its close`, async () => {
        const events = [];
        const app = make();
        const closed = deferred();
        app.use((req, res, next) => {
            for (const event of ["data", "end", "close"]) req.on(event, () => events.push(event));
            next();
        });
        app.use(make.json(), (req, res) => {
            req.on("close", closed.resolve);
            res.json(req.body);
        });
        await listening(app, async (port) => {
            assert.equal((await post(port, '{"a":1}')).text, '{"a":1}');
            await closed.promise;
            assert.deepEqual(events, ["data", "end", "close"]);
        });
    });

    test(`${name}: a request whose body was taken closes, but ends no second time`, async () => {
        const app = make();
        const closed = deferred();
        app.use(make.json(), (req, res) => {
            req.on("end", () => assert.fail("it has ended"));
            req.on("close", () => closed.resolve(req.destroyed));
            res.json(req.body);
        });
        await listening(app, async (port) => {
            assert.equal((await post(port, '{"a":1}')).text, '{"a":1}');
            assert.equal(await closed.promise, true);
        });
    });

    test(`${name}: a second parser leaves the body as it is`, async () => {
        const app = make();
        app.use(make.json(), make.json(), make.raw({ type: () => true }), (req, res) => res.json(req.body));
        await listening(app, async (port) => assert.equal((await post(port, '{"a":1}')).text, '{"a":1}'));
    });

    test(`${name}: what a later handler throws goes to the error middleware`, async () => {
        const app = make();
        app.use(make.json(), (req) => {
            throw new Error(`with ${req.body.a}`);
        });
        // eslint-disable-next-line @typescript-eslint/no-unused-vars -- as above
        app.use((error, req, res, next) => res.status(500).send(error.message));
        await listening(app, async (port) => assert.equal((await post(port, '{"a":1}')).text, "with 1"));
    });

    for (const [what, options] of [["verify", { verify: 1 }], ["limit", { limit: "much" }]]) {
        test(`${name}: a wrong option \`${what}\` is told when the middleware is made`, () => {
            assert.throws(() => make.json(options), { name: "TypeError", message: new RegExp(what) });
        });
    }
}

function deferred() {
    let resolve;
    const promise = new Promise((done) => (resolve = done));
    return { promise, resolve };
}
