// What a dispatch costs: nanoseconds of processor time and bytes of heap, of npm's routers and of ours.
//
//     node test/express/router/cost.mjs [CASE]
//
// The figures in docs/design/express-router.md come from here. The request object is part of neither figure.
import { execFileSync } from "node:child_process";
import { getHeapStatistics } from "node:v8";
import * as subjects from "./subjects.mjs";

const ROUNDS = 7;
const DISPATCHES = 40_000;
const COUNTED = 4_000;

const pass = (req, res, next) => next();
const answer = () => {};
const out = () => {
    throw new Error("nobody answered");
};

function routes(Router, count, path) {
    const router = Router();
    for (let at = 0; at < count; at++) router.get(path(at), answer);
    return router;
}

const cases = {
    "1 route": { make: (Router) => routes(Router, 1, (at) => `/r${at}/list`), url: () => "/r0/list" },
    "1,000 routes, the last": { make: (Router) => routes(Router, 1000, (at) => `/r${at}/list`), url: () => "/r999/list" },
    "1 route with a parameter": { make: (Router) => routes(Router, 1, (at) => `/r${at}/:id`), url: (at) => `/r0/${at & 1023}` },
    "1,000 routes with a parameter, the last": { make: (Router) => routes(Router, 1000, (at) => `/r${at}/:id`), url: (at) => `/r999/${at & 1023}` },
    "3 middlewares and a route": { make: (Router) => Router().use(pass).use(pass).use(pass).get("/", answer), url: () => "/" },
    "3 middlewares and 1,000 routes, the last": {
        make: (Router) => {
            const router = Router().use(pass).use(pass).use(pass);
            for (let at = 0; at < 1000; at++) router.get(`/r${at}/list`, answer);
            return router;
        },
        url: () => "/r999/list",
    },
    "a route of a mounted router": { make: (Router) => Router().use("/api/users", Router().get("/:id", answer)).get("/other", answer), url: (at) => `/api/users/${at & 1023}` },
};

class Request {
    constructor(url) {
        this.method = "GET";
        this.url = url;
        this.originalUrl = undefined;
        this.baseUrl = undefined;
        this.params = undefined;
        this.route = undefined;
        this.next = undefined;
        this._parsedUrl = undefined;
    }
}

const res = {};

function run(router, urls, count) {
    for (let at = 0; at < count; at++) router.handle(new Request(urls[at & 1023]), res, out);
}

function empty(urls, count) {
    let last;
    for (let at = 0; at < count; at++) last = new Request(urls[at & 1023]);
    return last;
}

function cpuNs(work, count) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return ((user + system) * 1000) / count;
}

/** Bytes that `work` took; it must be small enough for no collection to run. */
function bytes(work, count) {
    globalThis.gc();
    const before = getHeapStatistics().used_heap_size;
    work();
    return (getHeapStatistics().used_heap_size - before) / count;
}

/** One subject a process, as in an app: what V8 learns of one dialect does not slow the other. */
function measure(whose, version, name) {
    const { make, url } = cases[name];
    const urls = Array.from({ length: 1024 }, (_, at) => url(at));
    const router = make(subjects[whose](version).Router);
    const dispatches = name.includes("1,000") && whose === "real" ? DISPATCHES / 40 : DISPATCHES;
    run(router, urls, dispatches);
    const [base, all] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
        base.push(cpuNs(() => empty(urls, dispatches), dispatches));
        all.push(cpuNs(() => run(router, urls, dispatches), dispatches));
    }
    return { ns: Math.min(...all) - Math.min(...base), bytes: bytes(() => run(router, urls, COUNTED), COUNTED) - bytes(() => empty(urls, COUNTED), COUNTED) };
}

if (process.env.LEAT_COST) {
    console.log(JSON.stringify(measure(...JSON.parse(process.env.LEAT_COST))));
} else {
    const picked = process.argv[2] ?? "";
    console.log(`Node ${process.versions.node}: nanoseconds and bytes a dispatch`);
    for (const name of Object.keys(cases).filter((name) => name.includes(picked))) {
        const row = [5, 4].flatMap((version) =>
            ["real", "leat"].map((whose) => {
                const env = { ...process.env, LEAT_COST: JSON.stringify([whose, version, name]) };
                const { ns, bytes } = JSON.parse(execFileSync(process.execPath, ["--expose-gc", "--max-semi-space-size=64", "--min-semi-space-size=64", process.argv[1]], { env, encoding: "utf8", timeout: 60_000 }));
                return `${ns.toFixed(0)} ${bytes.toFixed(0)}`;
            }),
        );
        console.log(`| ${name} | ${row.join(" | ")} |`);
    }
}
