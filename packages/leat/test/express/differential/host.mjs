// A process that has the programs of cases on one subject: `host.mjs SUBJECT VERSION FOLDER`. It prints `control PORT` and
// is led over HTTP: whoever runs JavaScript and listens can be a subject.
import http from "node:http";
import { createRequire } from "node:module";
import { Program } from "./program.mjs";
import { load } from "./subjects.mjs";
import { table } from "./table.mjs";

const [, , subject, version, folder] = process.argv;
// Taken before the subject may replace it.
const { createServer } = http;
const express = load(subject, Number(version));
const require = createRequire(import.meta.url);
let program;

const orders = {
    async play({ name }) {
        program = new Program(table.get(name), { express, version: Number(version), dir: folder, require });
        return { where: await program.start() };
    },
    until: async ({ text }) => ({ met: await program.until(text) }),
    end: async () => ({ log: await program.end() }),
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
        res.end(JSON.stringify(answer));
    });
});
control.listen(0, "127.0.0.1", () => console.log(`control ${control.address().port}`));
