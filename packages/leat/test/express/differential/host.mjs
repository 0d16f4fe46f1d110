// A process that has the programs of cases on one subject: `host.mjs SUBJECT VERSION FOLDER`. It prints `control PORT` and
// is led over HTTP: whoever runs JavaScript and listens can be a subject.
import http from "node:http";
import { createRequire } from "node:module";
import { entryOf } from "./entry.mjs";
import { Program } from "./program.mjs";
import { load, servedByNode } from "./subjects.mjs";

const [, , subject, version, folder] = process.argv;
// Taken before the subject may replace it.
const { createServer } = http;
const express = load(subject, Number(version));
const require = createRequire(import.meta.url);
const UNLED_MS = 30_000;
let program;

const orders = {
    /** Ends the case that is there and begins the one called `name`, if there is such. */
    async turn({ name }) {
        const log = await program?.end();
        program = name === undefined ? undefined : new Program(await entryOf(name), { express, version: Number(version), dir: folder, require, byNode: servedByNode(subject) });
        return { log, where: await program?.start() };
    },
    until: async ({ text }) => ({ met: await program.until(text) }),
};

process.on("uncaughtException", (error, origin) => program?.log(`uncaught (${origin})`, error));
process.stderr.write = (text, ...rest) => {
    program?.printed(String(text));
    rest.find((one) => typeof one === "function")?.();
    return true;
};

const control = createServer((req, res) => {
    let body = "";
    req.on("data", (chunk) => void (body += chunk));
    req.on("end", async () => {
        const answer = await orders[req.url.slice(1)](JSON.parse(body)).catch((error) => ({ broken: String(error.stack) }));
        const text = Buffer.from(JSON.stringify(answer));
        res.setHeader("Content-Length", text.length);
        res.end(text);
    });
});
// Who leads this process has one connection; without it there is nobody to end it.
control.on("connection", (socket) => void socket.on("close", () => process.exit(0)));
setTimeout(() => control.getConnections((_, count) => count === 0 && process.exit(1)), UNLED_MS).unref();
control.listen(0, "127.0.0.1", () => console.log(`control ${control.address().port}`));
