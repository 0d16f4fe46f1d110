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
import { requests, responses } from "./corpus.mjs";
import * as echoServer from "./echo.mjs";
import { explain } from "./explained.mjs";
import * as nginx from "./nginx.mjs";
import * as node from "./node.mjs";
import { passedOn } from "./passed.mjs";
import { replay } from "./replay.mjs";
import { isReplayed, replayResponses, startUpstream } from "./responses.mjs";
import { write } from "./table.mjs";

/** The versions that explained.json speaks of; another one differs elsewhere. */
const EXPLAINED = { nginx: "1.22", node: "20" };
const SHOWN_MAX = 50;
/** Cases of which only one at a time may be under way are sent at so many places at once. */
const PLACES = 8;

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
        await withGateway(config(profile, echo.port), (gateway) => replayed(gateway.ports[0], profile));
        await atPlaces(profile, async (places) => {
            const chosen = cases;
            tell(`leat ${profile}, behind the gateway`, chosen, await passedOn(places, chosen, profile));
        });
    }
    const chosen = responses().filter((one) => isReplayed(one) && one.name.includes(options.only));
    const upstreams = await Promise.all(Array.from({ length: PLACES }, startUpstream));
    const routes = upstreams.map(({ port }, at) => `  - match: { prefix: /${at} }\n    proxy: http://127.0.0.1:${port}\n`);
    try {
        await withGateway(`listeners: [{ address: "127.0.0.1:0", http2: false }]\naccess_log: off\nroutes:\n${routes.join("")}`, async ({ ports: [port] }) => {
            const { exchanges, failures } = await replayResponses(upstreams.map((upstream, at) => ({ port, prefix: `/${at}`, upstream })), chosen);
            tell(`leat, responses (${exchanges} exchanges)`, chosen, failures);
        });
    } finally {
        for (const upstream of upstreams) upstream.close();
    }
}

function config(profile, port) {
    return `listeners:\n  - address: 127.0.0.1:0\n    http2: false\n    profile: ${profile}\naccess_log: off\nroutes:\n  - proxy: http://127.0.0.1:${port}\n`;
}

/** Gateways with an echo of their own each. */
async function atPlaces(profile, use, places = []) {
    if (places.length === PLACES) return use(places);
    const echo = await echoServer.start(0, { record: true });
    try {
        await withGateway(config(profile, echo.port), ({ ports: [port] }) => atPlaces(profile, use, [...places, { port, echo }]));
    } finally {
        echo.close();
    }
}

async function withGateway(text, use) {
    const gateway = await startGateway(text);
    try {
        await use(gateway);
        if (!gateway.alive() || gateway.panics.length > 0) {
            console.error(`FAILED the gateway ${gateway.alive() ? "panicked" : "did not survive"}:\n${gateway.log.join("\n")}`);
            total.failed += 1;
        }
    } finally {
        await gateway.stop();
    }
}

function tell(what, chosen, failures) {
    const failed = new Set(failures.map(({ name }) => name));
    for (const { name, cut, expected, observed } of failures.slice(0, SHOWN_MAX)) console.error(`FAILED ${name} (${what}${cut === undefined ? "" : `, cut at ${cut}`}): expected ${expected}, got ${observed}`);
    console.log(`${what}: ${chosen.length - failed.size} of ${chosen.length} cases`);
    total.passed += chosen.length - failed.size;
    total.failed += failed.size;
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
