// The same programs on npm's routers and on ours: what handlers see, in which order, and what comes out must be the same.
// Each request is sent four times, since a stack is walked first and compiled then.
import assert from "node:assert/strict";
import test from "node:test";
import { exchange, show } from "./exchange.mjs";
import { installed, pair } from "./subjects.mjs";

if (!installed) {
    console.log("SKIP express router: its npm packages are not installed; run npm ci in packages/leat/test/express/differential");
    process.exit(0);
}
const { programs } = await import("./programs.mjs");
const TIMES = 4;
const picked = process.env.LEAT_CASE ?? "";

for (const { name, only, make, requests } of programs) {
    if (!name.includes(picked)) continue;
    for (const version of [4, 5].filter((version) => only === undefined || only === version)) {
        test(`${version}: ${name}`, async () => {
            const { real, leat } = pair(version);
            const wanted = await run(real, version, make, requests);
            assert.ok(wanted.length > 0, "the program logs nothing");
            const found = await run(leat, version, make, requests);
            const at = wanted.findIndex((line, index) => line !== found[index]);
            if (at !== -1) assert.fail(`line ${at}, after ${wanted.slice(0, at).findLast((line) => line.startsWith("---"))}\n- npm:  ${wanted[at]}\n+ leat: ${found[at]}`);
            assert.equal(found.length, wanted.length, `more lines: ${found.slice(wanted.length, wanted.length + 3).join("\n")}`);
        });
    }
}

async function run(subject, version, make, requests) {
    const lines = [];
    let router;
    const log = (...what) => void lines.push(what.map((one) => (typeof one === "string" ? one : show(one))).join(" "));
    try {
        router = make({ ...subject, version, log, router: (options) => subject.Router(options) });
    } catch (error) {
        lines.push(`cannot be made: ${show(error)}`);
        return lines;
    }
    for (const request of requests) {
        const one = typeof request === "string" ? parse(request) : request;
        for (let time = 0; time < TIMES; time++) {
            lines.push(`--- ${one.method ?? "GET"} ${one.url} (${time})`);
            await exchange(router, one, lines);
        }
    }
    return lines;
}

/** "/path" or "METHOD /path". */
function parse(text) {
    const [, method, url] = /^(?:([A-Z-]+) )?(.*)$/.exec(text);
    return { method: method ?? "GET", url };
}
