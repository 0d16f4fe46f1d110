// What tests, lists and wraps routes.
import assert from "node:assert/strict";
import { major, use } from "../subjects.mjs";
import { middleware } from "../suite.mjs";

const request = await use("supertest");
const listEndpoints = await use("express-list-endpoints");
const asyncHandler = await use("express-async-handler");

middleware("supertest", ({ express, http, it }) => {
    function app() {
        const made = express().use(express.json());
        made.get("/user", (req, res) => res.status(200).cookie("seen", "1").json({ name: "ann", cookie: req.headers.cookie ?? null }));
        made.post("/user", (req, res) => res.status(201).location("/user/7").json(req.body));
        made.get("/moved", (req, res) => res.redirect("/user"));
        made.get("/text", (req, res) => res.type("text").send("text"));
        made.get("/fails", () => {
            throw Object.assign(new Error("on purpose"), { status: 418, expose: true });
        });
        return made.set("env", "test");
    }

    // It starts a server of Node's (or of Leat's, under leat/register) for the function that it gets.
    it("of the app itself", async ({ note }) => {
        const created = await request(app()).post("/user").send({ name: "bob" }).set("Accept", "application/json").expect(201).expect("Location", "/user/7").expect("Content-Type", /json/).expect({ name: "bob" });
        note([created.status, created.text, created.headers.etag, created.headers["content-length"]]);
        await request(app()).get("/moved").redirects(1).expect(200, { name: "ann", cookie: null });
        const failed = await request(app()).get("/fails").expect(418);
        note([failed.text.split("\n").filter((line) => !line.includes("&nbsp; at ")).length > 3, failed.headers["content-security-policy"]]);
        await assert.rejects(request(app()).get("/text").expect(201), /expected 201 "Created", got 200 "OK"/);
        await request(app()).get("/none").expect(404, /Cannot GET \/none/);
        await request(app()).head("/user").expect(200).expect((response) => assert.equal(response.text, undefined));
    });

    it("of a server, and an agent that keeps cookies", async ({ listen }) => {
        const server = http.createServer(app());
        await listen(server);
        await request(server).get("/text").expect(200, "text");
        const agent = request.agent(server);
        await agent.get("/user").expect("set-cookie", /seen=1/);
        await agent.get("/user").expect(200, { name: "ann", cookie: "seen=1" });
    });

    it("of what app.listen gave", async ({ after, note }) => {
        const server = app().listen(0);
        after(() => new Promise((resolve) => server.close(resolve)));
        const { headers } = await request(server).get("/user").expect(200);
        note([headers["content-type"], headers["x-powered-by"]]);
    });
});

middleware("express-list-endpoints", ({ express, it }) => {
    it("paths, methods and middlewares of apps and routers", async ({ note }) => {
        const guard = (req, res, next) => next();
        const app = express().get("/", (req, res) => res.end()).post("/items/:id", guard, function store(req, res) {
            res.end();
        });
        app.route("/both").get((req, res) => res.end()).put((req, res) => res.end());
        const router = express.Router().delete("/deep/:name", (req, res) => res.end());
        router.use("/deeper", express.Router().patch("/", (req, res) => res.end()));
        app.use("/below", router);
        // It knows where Express 4 keeps its router; Express 5's has to be given, and hides where routers are mounted.
        const found = listEndpoints(major === 5 ? app.router : app);
        assert.deepEqual(found.find(({ path }) => path === "/items/:id"), { path: "/items/:id", methods: ["POST"], middlewares: ["guard", "store"] });
        assert.deepEqual(found.map(({ path }) => path), major === 5 ? ["/", "/items/:id", "/both", "/deep/:name"] : ["/", "/items/:id", "/both", "/below/deep/:name", "/below/deeper"]);
        note([found, listEndpoints(router)]);
    });
});

middleware("express-async-handler", ({ express, it }) => {
    it("a rejection becomes an error, once", async ({ listen }) => {
        const app = express();
        app.get("/rejects", asyncHandler(async () => {
            await null;
            throw Object.assign(new Error("rejected"), { status: 409 });
        }));
        app.get("/sends", asyncHandler(async (req, res) => {
            await null;
            res.json("sent");
        }));
        app.use(asyncHandler(async (req, res, next) => next()));
        app.use((error, req, res, next) => res.status(error.status).json(error.message));
        const peer = await listen(app);
        assert.deepEqual([(await peer.get("/rejects")).json, (await peer.get("/sends")).json, (await peer.get("/none")).status], ["rejected", "sent", 404]);
    });
});

if (major === 4) {
    const promiseRouter = await use("express-promise-router");

    // It makes its routers with the package `express`, so by import they are foreign ones, mounted in an app of Leat's.
    middleware("express-promise-router", ({ express, it }) => {
        it("promises: errors, 'next', 'route', parameters", async ({ listen }) => {
            const router = promiseRouter();
            router.param("id", async (req, res, next, id) => {
                req.id = Number(id);
                return "next";
            });
            router.get("/rejects", async () => Promise.reject(Object.assign(new Error("rejected"), { status: 409 })));
            router.get("/items/:id", async () => "next", (req, res) => res.json([req.id, req.baseUrl]));
            router.get("/skip", async () => "route", (req, res) => res.json("not here"));
            router.get("/skip", async (req, res) => {
                res.json("here");
            });
            const app = express().use("/below", router).use((error, req, res, next) => res.status(error.status).json(error.message));
            const peer = await listen(app);
            assert.deepEqual([(await peer.get("/below/rejects")).json, (await peer.get("/below/items/7")).json, (await peer.get("/below/skip")).json], ["rejected", [7, "/below"], "here"]);
        });
    });
}
