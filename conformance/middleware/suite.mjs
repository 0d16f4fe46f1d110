// A middleware's checks are written once and run on every subject; afterwards what they saw is compared with what npm's Express
// on node:http gave. The table that `leat doctor` reads says which subjects have to pass.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after as afterAll, test } from "node:test";
import { Peer } from "./peer.mjs";
import { major, registered, row, subjects } from "./subjects.mjs";
import { table } from "./table.mjs";

// Express reports what handlers throw to stderr, except in tests.
process.env.NODE_ENV = "test";

const TEST_MS = 15_000;
const END_MS = 5_000;

const group = basename(process.argv[1], ".mjs");
const out = process.env.LEAT_REPLIES;
/** What this process saw on its reference, for the process that runs under leat/register. */
const seen = {};
const exercised = new Set();

afterAll(() => {
    if (out) {
        mkdirSync(out, { recursive: true });
        writeFileSync(join(out, `${group}-${major}-${registered ? "register" : "import"}.json`), JSON.stringify({ exercised: [...exercised], seen }));
    }
    // What a test leaves open may not keep the process: the engine's handles count like Node's.
    setTimeout(() => {
        console.error(`still open ${END_MS} ms after the last test: ${process.getActiveResourcesInfo()}`);
        process.exit(1);
    }, END_MS).unref();
});

/**
 * Checks of one package, or of several that are used together. `define({ name, express, http, it })` is called for every subject;
 * `it(what, body)` makes a check, whose body gets `{ listen, peer, after, note }`: `listen(appOrServer, { changing })` gives a `Peer`,
 * `note(value)` adds to what is compared. `majors`: the versions of Express that the package itself supports.
 * `programs`: it starts programs, which need a subject of each kind only.
 */
export function middleware(packages, define, { majors = [5, 4], programs = false } = {}) {
    if (!majors.includes(major)) return;
    const names = [packages].flat();
    const title = names.join(" + ");
    const verdicts = names.map((name) => table[name]?.[row]?.verdict);
    names.forEach((name, at) => {
        if (verdicts[at] === undefined && !exercised.has(name)) test(`${name} has a row for ${row} in the table`, () => assert.fail("write one"));
        exercised.add(name);
    });
    const differing = programs ? subjects.filter(({ kind }, at) => subjects.findIndex((other) => other.kind === kind) === at) : subjects;
    const runs = differing.map((subject) => {
        const checks = [];
        define({ ...subject, it: (what, body) => checks.push({ what, body, log: [] }) });
        if (passes(subject, verdicts)) for (const { what, body, log } of checks) test(`${title} on ${subject.name}: ${what}`, () => run(body, subject, log));
        else test(`${title} on ${subject.name}: not everything works, as the table says`, () => someFail(checks, subject));
        return { subject, checks };
    });
    compare(title, runs.filter(({ subject }) => passes(subject, verdicts)));
}

/** Whether the verdicts promise that everything passes on this subject. */
function passes({ kind }, verdicts) {
    if (kind === "reference") return true;
    return verdicts.every((verdict = "drop-in") => verdict === "drop-in" || (verdict === "register" && kind === "register"));
}

/** A verdict that is worse than the truth is as wrong as one that is better. */
async function someFail(checks, subject) {
    for (const { body, log } of checks) {
        const failed = await run(body, subject, log).then(() => false, () => true);
        if (failed) return;
    }
    assert.fail("everything works now: give it a better verdict");
}

function compare(title, runs) {
    const reference = registered ? () => before()[title] : () => seen[title];
    test(`${title} on ${runs[0]?.subject.name}: what it saw`, () => {
        if (!registered) seen[title] = Object.fromEntries(runs[0].checks.map(({ what, log }) => [what, comparable(log)]));
    });
    for (const { subject, checks } of registered ? runs : runs.slice(1)) {
        test(`${title} on ${subject.name}: the same as Express ${major} on node:http`, () => {
            for (const { what, log } of checks) assert.deepEqual(comparable(log), reference()?.[what], what);
        });
    }
}

let loaded;
function before() {
    loaded ??= JSON.parse(readFileSync(join(out, `${group}-${major}-import.json`), "utf8")).seen;
    return loaded;
}

/** Requests that run beside each other are answered in any order; what a file has kept is plain JSON. */
function comparable(log) {
    const entries = JSON.parse(JSON.stringify(log));
    return entries.sort((a, b) => ((a.request ?? "") < (b.request ?? "") ? -1 : (a.request ?? "") > (b.request ?? "") ? 1 : 0));
}

async function run(body, subject, log) {
    const ends = [];
    const after = (end) => ends.unshift(end);
    const peer = (port, { changing } = {}) => {
        const made = new Peer(port, log, changing);
        after(() => made.close());
        return made;
    };
    const listen = async (app, options) => {
        const server = typeof app === "function" ? subject.http.createServer(app) : app;
        if (!server.listening) {
            server.listen(0, "127.0.0.1");
            await once(server, "listening");
        }
        after(() => closed(server));
        return peer(server.address().port, options);
    };
    try {
        await within(TEST_MS, "the test", body({ listen, peer, after, note: (value) => log.push({ request: "", value }) }));
    } finally {
        for (const end of ends) await within(END_MS, "its end", end());
    }
}

/** A test that hangs must still clean up, or it takes all that follow with it; hence no `timeout` of the runner's. */
async function within(ms, what, promise) {
    let timer;
    const overdue = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${what} did not come to an end in ${ms} ms`)), ms);
    });
    await Promise.race([promise, overdue]).finally(() => clearTimeout(timer));
}

/** Closes the server as a program would; a connection that outlives it keeps the test from ending. */
async function closed(server) {
    if (!server.listening) return;
    const gone = once(server, "close");
    server.close();
    server.closeAllConnections();
    await gone;
}
