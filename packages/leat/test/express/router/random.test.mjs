// Routers of random paths, on npm's routers and on ours: the layers that are called, and with what, must be the same.
// A plan that loses a layer shows here; LEAT_SEED=n tries other paths.
import assert from "node:assert/strict";
import test from "node:test";
import { installed, pair } from "./subjects.mjs";

const ROUTERS = 250;
const LAYERS_MAX = 14;
const REQUESTS = 24;

function generator(seed) {
    let state = seed >>> 0;
    const number = (below) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 2 ** 32) * below);
    };
    return { number, one: (list) => list[number(list.length)] };
}

const TEXTS = ["a", "b", "A", "ab", "a.b", "x-y", "1", "12", "%41", "é", "", "a/b", "K"];
const segments5 = ["a", "b", "ab", "A", ":p", ":q", ":p-:q", ":p.:q", "a:p", "*s", "a*s", "a.b", "12", "é", "", "{a}", "{:p}", "a{b}", "{a/b}", ":p{.:q}"];
const segments4 = ["a", "b", "ab", "A", ":p", ":q", ":p-:q", ":p.:q", "a:p", "*", "a*", "a.b", "12", "é", "", ":p?", ":p*", ":p(\\d+)", ":p(\\d+)?", "a?", "a+", "(a|b)", ":p(.*)", "a:p?", ":p?b", "*b"];

function path(random, version) {
    const expressions = [/^\/a/, /b$/, /^\/(\d+)/, /\/(?<n>a.?b?)\//];
    if (random.number(12) === 0) return random.one(expressions);
    if (random.number(12) === 0) return [path(random, version), path(random, version)];
    const texts = version === 5 ? segments5 : segments4;
    let text = "";
    for (let count = random.number(4); count >= 0; count--) {
        if (version === 5 && random.number(6) === 0) text += `{/${random.one(texts)}}`;
        else text += `/${random.one(texts)}`;
    }
    return text + (random.number(5) === 0 ? "/" : "");
}

const url = (random) => `${Array.from({ length: 1 + random.number(4) }, () => `/${random.one(TEXTS)}`).join("")}${random.one(["", "", "", "/", "//", "?q=/a"])}`;

/** The layers of one router, as its subject would add them. */
function plan(random, version) {
    return Array.from({ length: 2 + random.number(LAYERS_MAX) }, () => ({ kind: random.one(["get", "get", "get", "use", "all", "post"]), path: path(random, version) }));
}

function build(Router, layers, options, lines) {
    const router = Router(options);
    for (const [at, { kind, path }] of layers.entries()) {
        try {
            router[kind](path, (req, res, next) => {
                lines.push(`${at} ${kind} ${req.url} ${req.baseUrl} ${JSON.stringify(req.params)}`);
                next();
            });
        } catch (error) {
            lines.push(`${at} ${error.message}`);
        }
    }
    return router;
}

if (!installed) {
    console.log("SKIP express router: its npm packages are not installed; run npm ci in packages/leat/test/express/differential");
} else {
    for (const version of [4, 5]) {
        test(`${ROUTERS} random routers of Express ${version}`, async () => {
            const seed = Number(process.env.LEAT_SEED ?? 1);
            const { real, leat } = pair(version);
            let called = 0;
            for (let count = 0; count < ROUTERS; count++) {
                const random = generator(seed * 1_000_003 + count * 7919 + version);
                const layers = plan(random, version);
                const options = { strict: random.number(4) === 0, caseSensitive: random.number(4) === 0 };
                const urls = Array.from({ length: REQUESTS }, () => url(random));
                const run = async (Router) => {
                    const lines = [];
                    const router = build(Router, layers, options, lines);
                    for (const one of urls) {
                        lines.push(one);
                        await new Promise((resolve) => router({ method: "GET", url: one }, {}, (error) => resolve(lines.push(`out ${error}`))));
                    }
                    return lines;
                };
                const wanted = await run(real.Router);
                called += wanted.length;
                assert.deepEqual(await run(leat.Router), wanted, `router ${count} of seed ${seed}: ${JSON.stringify(options)} ${layers.map(({ kind, path }) => `${kind} ${path}`).join(" ; ")}`);
            }
            assert.ok(called > ROUTERS * REQUESTS * 2, `only ${called} lines`);
        });
    }
}
