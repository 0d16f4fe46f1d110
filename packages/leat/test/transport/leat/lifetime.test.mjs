// When a process or a thread with calls ends, and what is left of them at the peer: nothing.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { start } from "../../child.mjs";
import { within } from "../../within.mjs";

const program = new URL("programs.mjs", import.meta.url);
const LATE_MS = 300;

/** A server whose paths say what it does. */
async function peer(t) {
    const sockets = new Set();
    const server = createServer((request, response) => {
        // Who reads nothing would not hear of an end either.
        request.on("error", () => undefined).resume();
        if (request.url === "/silent") return undefined;
        if (request.url === "/late") return setTimeout(() => response.end("late"), LATE_MS);
        if (request.url !== "/endless") return response.end("hello");
        const more = () => {
            while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        };
        response.on("drain", more).on("error", () => undefined);
        return more();
    });
    server.on("connection", (socket) => {
        sockets.add(socket);
        socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => {
        server.closeAllConnections();
        server.close();
    });
    /** Until nobody is connected any more. */
    const alone = async () => {
        for (const socket of sockets) if (!socket.destroyed) await within(new Promise((resolve) => socket.resume().once("close", resolve)), "the end of a connection");
    };
    return { port: server.address().port, alone };
}

const PROGRAMS = [
    ["a transport that has made no call keeps no process alive", "makes none", 0, ""],
    ["nor does one whose connections are kept", "has made some", 0, "status 200\n"],
    ["a call that is under way does", "waits for one", 0, "status 200\n"],
    ["a process exits with calls under way", "exits", 3, ""],
    ["a transport that is closed ends what is under way", "closes", 0, /^(failed transport\.closed\n){3}closed\n$/],
    ["a thread ends with calls under way, and hurts no other", "ends a thread", 0, "status 200\n"],
    ["what a listener throws is uncaught, and the lane goes on", "throws in a stream", 0, "uncaught mine\nstatus 200\n"],
];

for (const [title, name, code, said] of PROGRAMS) {
    test(title, async (t) => {
        const { port, alone } = await peer(t);
        const ended = await start(program, [name, port]).exit;
        assert.equal(ended.stderr, "");
        assert.deepEqual([ended.code, ended.signal], [code, null]);
        if (typeof said === "string") assert.equal(ended.stdout, said);
        else assert.match(ended.stdout, said);
        await alone();
    });
}
