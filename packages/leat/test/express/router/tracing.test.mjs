// What listeners of the channel `express.router.request` are told: the same by npm's router of Express 5 and by ours.
import assert from "node:assert/strict";
import { tracingChannel } from "node:diagnostics_channel";
import test from "node:test";
import { answer, caught, mended, pass } from "./programs/handlers.mjs";
import { exchange, show } from "./exchange.mjs";
import { installed, pair } from "./subjects.mjs";

const fail = (message) => () => {
    throw new Error(message);
};

const programs = {
    "middleware and a route": ({ Router }) => Router().use(pass("use")).get("/a/:b", pass("one"), answer("two")),
    "nested routers": ({ Router }) => Router().use("/a", Router().use(pass("in")).get("/:b", pass("b"))).use(pass("behind")),
    "an error and who handles it": ({ Router }) => Router().get("/a/b", fail("thrown")).use(caught("first")).use(mended("mend")).use(answer("end")),
    "an error told once, however many routers it passes": ({ Router }) => Router().use("/a", Router().use("/b", fail("deep")).use(caught("inner"))).use(caught("outer")),
    "an error handled, then the same again": ({ Router }) => {
        const error = new Error("again");
        return Router()
            .use((req, res, next) => next(error))
            .use(mended("mend"))
            .use(() => {
                throw error;
            })
            .use(caught("end"));
    },
    "an error replaced": ({ Router }) =>
        Router()
            .use(fail("one"))
            .use((error, req, res, next) => next(new Error(`after ${error.message}`)))
            .use(caught("end")),
    promises: ({ Router }) =>
        Router()
            .use(async (req, res, next) => {
                await null;
                next();
                return "value";
            })
            .use(async () => {
                throw new Error("rejected");
            })
            .use(async (error, req, res, next) => next(error))
            .use(() => Promise.reject())
            .use(caught("end")),
    "a promise whose handler went on with an error first": ({ Router }) =>
        Router()
            .use(async (req, res, next) => {
                next(new Error("early"));
            })
            .use(async (error, req, res, next) => {
                next();
                await null;
                throw error;
            })
            .use(caught("end")),
    "signals are no errors": ({ Router }) => Router().use("/a", Router().use((req, res, next) => next("router"))).get("/a/b", (req, res, next) => next("route"), pass("never")).get("/a/b", () => Promise.reject("route")).get("/a/b", () => {
        throw "route";
    }).use(answer("end")),
    "param callbacks": ({ Router }) =>
        Router()
            .param("b", (req, res, next) => next())
            .param("b", async (req, res, next) => next())
            .param("c", fail("param"))
            .get("/a/:b", pass("b"))
            .get("/:c/b", pass("c"))
            .use(caught("end")),
    "param callbacks that reject": ({ Router }) => Router().param("b", () => Promise.reject(new Error("no"))).get("/a/:b", pass("b")).use(caught("end")),
    "bad encodings": ({ Router }) => Router().get("/:x/*y", pass("x")).get("/a/:b", pass("b")).use(caught("end")),
    "arrays and expressions": ({ Router }) => Router().use(["/x", "/a"], pass("array")).get([/nothing/, /^\/a/], pass("expression")).use(answer("end")),
};

const EVENTS = ["start", "end", "asyncStart", "asyncEnd", "error"];

/** Listens while `work` runs. */
async function listening(lines, work) {
    const told = new Map();
    const handlers = Object.fromEntries(
        EVENTS.map((event) => [
            event,
            (call) => {
                if (!told.has(call)) told.set(call, told.size);
                const { layer, handler, route, param, errorHandler, incomingError, error, result } = call;
                lines.push(`${event} ${told.get(call)} ${layer.name} ${show(handler)} route=${show(route)} param=${param} ${errorHandler} in=${show(incomingError)} error=${"error" in call} ${show(error)} result=${"result" in call} ${show(result)}`);
            },
        ]),
    );
    const channel = tracingChannel("express.router.request");
    channel.subscribe(handlers);
    try {
        await work();
    } finally {
        channel.unsubscribe(handlers);
    }
}

if (!installed) {
    console.log("SKIP express router: its npm packages are not installed; run npm ci in packages/leat/test/express/differential");
} else {
    const { real, leat } = pair(5);
    for (const [name, make] of Object.entries(programs)) {
        test(name, async () => {
            const run = async (subject) => {
                const lines = [];
                const router = make(subject);
                await listening(lines, async () => {
                    for (const url of ["/a/b", "/a/%zz", "/a/b"]) await exchange(router, { url }, lines);
                });
                // And nothing when nobody listens.
                await exchange(router, { url: "/a/b" }, lines);
                return lines;
            };
            const wanted = await run(real);
            assert.ok(wanted.some((line) => line.startsWith("start ")), "nothing is told");
            assert.deepEqual(await run(leat), wanted);
        });
    }
}
