// Listeners of a server's events that fail: what the client reads and what the process is told is as on node:http, the
// server goes on, and nothing is left open.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { start } from "../child.mjs";
import { subject } from "../subject.mjs";
import { within } from "../within.mjs";
import { cases } from "./listeners.mjs";

/** Sends `request`, reads until `reads` matches or the server ends the connection, and then leaves. */
function talk(port, { request, next, reads, ends }, told) {
    return new Promise((resolve) => {
        let text = "";
        let leaving = false;
        const socket = connect(port, "127.0.0.1", () => socket.write(request));
        const leave = () => {
            leaving = true;
            socket.end();
        };
        socket.on("data", (chunk) => {
            if (next && text === "") socket.write(next);
            text += chunk.toString("latin1");
            if (!ends && reads?.test(text)) leave();
        });
        socket.on("error", () => {});
        socket.on("close", () => resolve({ text: text.replaceAll(/^Date: .*\r\n/gm, ""), byServer: !leaving }));
        if (!ends && !reads) told.then(leave);
    });
}

async function run(name, number) {
    const { uncaught = 0, uncaughtAtClose = 0 } = cases[number];
    const child = start(new URL("listeners.mjs", import.meta.url), [number], { ipc: true, env: { LEAT_SUBJECT: name } });
    try {
        const { port } = await child.message("port");
        const told = child.several("uncaught", uncaught);
        const talked = await within(talk(port, cases[number], told), "the end of the connection");
        const errors = (await told).map(({ error }) => error);
        child.send("close");
        const { seen, open } = await child.message("seen");
        const { code, signal, stderr } = await within(child.exit, "the end of the process");
        errors.push(...(await child.several("uncaught", uncaughtAtClose)).map(({ error }) => error));
        return { ...talked, seen, open, errors, more: child.messages("uncaught"), code, signal, stderr };
    } finally {
        child.kill();
    }
}

for (const [number, { name, reads, ends, uncaught = 0, uncaughtAtClose = 0 }] of cases.entries()) {
    test(name, async () => {
        const [reference, measured] = await Promise.all([run("node:http", number), run(subject, number)]);
        if (reads) assert.match(reference.text, reads);
        else assert.equal(reference.text, "");
        assert.equal(reference.byServer, ends === true);
        assert.deepEqual(reference.open, []);
        assert.deepEqual(reference.more, []);
        assert.equal(reference.errors.length, uncaught + uncaughtAtClose);
        assert.deepEqual([reference.code, reference.signal, reference.stderr], [0, null, ""]);
        assert.deepEqual(measured, reference);
    });
}
