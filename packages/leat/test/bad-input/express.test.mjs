// Express' own words for what fails in its handlers: the same on the subject as on node:http.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { start } from "../child.mjs";
import { Connection } from "../load/connection.mjs";
import { subject } from "../subject.mjs";
import { within } from "../within.mjs";

if (!existsSync(new URL("express/node_modules", import.meta.url))) {
    console.log("SKIP express: its npm packages are not installed; run npm ci in packages/leat/test/bad-input/express");
    process.exit(0);
}

const get = (path) => `GET ${path} HTTP/1.1\r\nhost: test\r\n\r\n`;
const post = (path, type, body, length = body.length) => `POST ${path} HTTP/1.1\r\nhost: test\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n${body}`;
const cases = [
    ...["throws", "rejects", "next", "next-status", "sends-twice", "fails-after-send", "fails-in-the-middle", "header-after-send", "bad-status", "bad-header", "bad-value", "circular", "no-file", "throws-later"]
        .map((name) => [name, get(`/${name}`)]),
    ["not found", get("/nowhere")],
    ["a path that cannot be decoded", get("/param/%zz")],
    ["a method that nobody handles", "DELETE /throws HTTP/1.1\r\nhost: test\r\n\r\n"],
    ["OPTIONS", "OPTIONS /throws HTTP/1.1\r\nhost: test\r\n\r\n"],
    ["JSON that is none", post("/json", "application/json", "{nonsense")],
    ["a body over the limit", post("/json", "application/json", JSON.stringify("x".repeat(200)))],
    ["a body whose charset is unknown", post("/text", "text/plain; charset=none-such", "text")],
    ["a body whose encoding is unknown", post("/text", "text/plain\r\ncontent-encoding: none-such", "text")],
    ["a body that is cut off", post("/text", "text/plain", "part", 50), "cut"],
    ["a body that is right", post("/json", "application/json", '{"a":1}')],
];

/** What a client and the process see of all cases, one after the other. */
async function run(name, environment) {
    const child = start(new URL("express/server.mjs", import.meta.url), [], { env: { LEAT_SUBJECT: name, NODE_ENV: environment } });
    try {
        const port = Number(await child.line("port"));
        const results = {};
        for (const [what, bytes, cut] of cases) {
            const connection = await Connection.open(port);
            const reply = connection.send(bytes).then(
                ({ status, line, headers, body }) => ({ status, line, headers: { ...headers, date: undefined, "last-modified": undefined, etag: undefined }, body: withoutFrames(body) }),
                (error) => ({ cut: error.code }),
            );
            if (cut) connection.end();
            results[what] = { reply: await within(reply, "the reply").catch(({ message }) => ({ message })) };
            connection.destroy();
            const looking = await Connection.open(port);
            results[what].seen = JSON.parse((await within(looking.get("/seen"), "the notes")).body);
            looking.destroy();
        }
        return { results, stderr: child.stderr.split("\n").filter((line) => line !== "" && !/^\s+at /.test(line)).map(withoutFrames) };
    } finally {
        child.kill();
    }
}

/** An error's page holds its stack, whose frames are the server's own. */
const withoutFrames = (text) => text.replaceAll(/<br> &nbsp; &nbsp;at [^<]*/g, "").replaceAll(/\n {4}at .*/g, "");

for (const environment of ["production", "development"]) {
    const whole = (async () => ({ reference: await run("node:http", environment), measured: await run(subject, environment) }))();
    whole.catch(() => {});
    for (const [what] of cases) {
        test(`${environment}: ${what}`, async () => {
            const { reference, measured } = await whole;
            if (what === "throws") {
                const { reply } = reference.results[what];
                assert.equal(reply.status, 500);
                assert.match(reply.body, environment === "production" ? /<pre>Internal Server Error<\/pre>/ : /<pre>Error: boom<\/pre>/);
            }
            const [expected, got] = [reference, measured].map(({ results }) => {
                const { reply, seen } = results[what];
                // The length of a page with a stack is the stack's.
                if (reply.body?.includes("<pre>")) delete reply.headers["content-length"];
                return { reply, seen };
            });
            assert.deepEqual(got, expected);
        });
    }
    test(`${environment}: what Express prints`, async () => {
        const { reference, measured } = await whole;
        assert.ok(reference.stderr.includes("Error: boom"));
        assert.deepEqual(measured.stderr, reference.stderr);
    });
}
