// Sends the request cases of the corpus to nginx, to Node and, if asked, to Leat.
//
//   node conformance/differential/run.mjs            nginx and Node: every difference must be explained
//   node conformance/differential/run.mjs --write    the same, and writes the table of README.md
//   node conformance/differential/run.mjs --gateway  the built gateway, both profiles, cut at every byte boundary
//   node conformance/differential/run.mjs --leat HOST:PORT --profile compatible|strict --echo PORT
//                                                    a Leat that runs already and proxies to 127.0.0.1:PORT
import { existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { binary, start as startGateway } from "../gateway.mjs";
import { differences } from "./compare.mjs";
import { requests } from "./corpus.mjs";
import * as echoServer from "./echo.mjs";
import { explain } from "./explained.mjs";
import * as nginx from "./nginx.mjs";
import * as node from "./node.mjs";
import { replay } from "./replay.mjs";
import { write } from "./table.mjs";

/** The versions that explained.json speaks of; another one differs elsewhere. */
const EXPLAINED = { nginx: "1.22", node: "20" };
const SHOWN_MAX = 50;

const { values: options } = parseArgs({
    options: {
        write: { type: "boolean" },
        gateway: { type: "boolean" },
        leat: { type: "string" },
        profile: { type: "string", default: "compatible" },
        echo: { type: "string", default: "0" },
        only: { type: "string", default: "" },
    },
});
const total = { passed: 0, failed: 0, skipped: 0 };
const cases = requests().filter(({ name }) => name.includes(options.only));
const echo = await echoServer.start(Number(options.echo));
try {
    if (options.leat) await replayed(Number(options.leat.split(":").at(-1)), options.profile);
    else if (options.gateway) await gateways();
    else await differential();
} finally {
    echo.close();
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;

async function differential() {
    const results = [];
    for (const start of [startNginx, node.start]) {
        const subject = await start();
        if (!subject) continue;
        try {
            if (subject.version !== EXPLAINED[subject.name]) {
                console.log(`SKIP differential ${subject.name}: ${EXPLAINED[subject.name]} is explained, and this is ${subject.version}`);
                continue;
            }
            const { rules, unexplained, unused } = explain(subject.name, await differences(subject, cases));
            results.push({ name: subject.name, version: subject.version, cases: cases.length, rules });
            for (const { name, expected, observed } of unexplained.slice(0, SHOWN_MAX)) console.error(`FAILED ${name}: Leat ${expected}, ${subject.name} ${observed}; no rule in explained.json says why`);
            const idle = options.only ? [] : unused;
            for (const text of idle) console.error(`FAILED explained.json: ${subject.name} does not differ in ${text}`);
            total.failed += unexplained.length + idle.length;
            total.passed += cases.length - unexplained.length;
            const explained = rules.reduce((sum, rule) => sum + rule.differences.length, 0);
            console.log(`${subject.name} ${subject.version}: ${cases.length - explained - unexplained.length} cases as Leat, ${explained} explained, ${unexplained.length} not explained`);
        } finally {
            await subject.stop();
        }
    }
    if (options.write && total.failed === 0) write(results);
}

async function startNginx() {
    if (nginx.version() !== undefined) return nginx.start(echo.port);
    console.log("SKIP differential nginx: no nginx found; on Debian: apt-get install nginx-light");
    return undefined;
}

async function gateways() {
    if (!existsSync(binary)) {
        console.log(`SKIP replay: no gateway at ${binary}; cargo build -p leat-cli`);
        return;
    }
    for (const profile of ["compatible", "strict"]) {
        const gateway = await startGateway(
            `listeners:\n  - address: 127.0.0.1:0\n    http2: false\n    profile: ${profile}\nupstreams:\n  echo:\n    endpoints:\n      - http://127.0.0.1:${echo.port}\nroutes:\n  - proxy:\n      upstream: echo\n`,
        );
        try {
            await replayed(gateway.ports[0], profile);
            if (!gateway.alive()) {
                console.error(`FAILED the gateway did not survive:\n${gateway.log.join("\n")}`);
                total.failed += 1;
            }
        } finally {
            await gateway.stop();
        }
    }
}

async function replayed(port, profile) {
    const { exchanges, failures } = await replay(port, cases, profile, statuses());
    const failed = new Set(failures.map(({ name }) => name));
    for (const { name, cut, expected, observed } of failures.slice(0, SHOWN_MAX)) console.error(`FAILED ${name} (${profile}, ${cut === undefined ? "whole" : `cut at ${cut}`}): expected ${expected}, got ${observed}`);
    console.log(`leat ${profile}: ${cases.length - failed.size} of ${cases.length} cases, ${exchanges} exchanges`);
    total.passed += cases.length - failed.size;
    total.failed += failed.size;
}

/** The status of every reason code, as reason.rs declares them. */
function statuses() {
    const text = readFileSync(new URL("../../crates/base/message/src/reason.rs", import.meta.url), "utf8");
    return new Map([...text.matchAll(/=> "([a-z0-9_.]+)", (\d+), \w+,/g)].map(([, code, status]) => [code, Number(status)]));
}
