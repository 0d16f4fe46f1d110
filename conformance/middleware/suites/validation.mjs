// What is let through.
import assert from "node:assert/strict";
import { major, use } from "../subjects.mjs";
import { middleware } from "../suite.mjs";

const { body, param, query, header, validationResult, matchedData, checkSchema, oneOf } = await use("express-validator", { all: true });
const { celebrate, errors, isCelebrateError, Joi, Segments } = await use("celebrate", { all: true });
const openApiValidator = await use("express-openapi-validator", { all: true });

middleware("express-validator", ({ express, it }) => {
    const answer = (request, response) => {
        const result = validationResult(request);
        if (!result.isEmpty()) return response.status(422).json(result.array());
        response.json({ data: matchedData(request), body: request.body, params: request.params, query: request.query });
    };

    it("bodies, parameters, queries and fields, cleaned", async ({ listen }) => {
        const app = express().use(express.json());
        app.post("/users/:id", param("id").isInt().toInt(), query("page").optional().isInt({ min: 1 }).toInt(), header("x-token").equals("t"), body("email").isEmail().normalizeEmail(), body("name").trim().escape().notEmpty(), body("tags.*").toUpperCase(), answer);
        const peer = await listen(app);
        const good = await peer.json("POST", "/users/7?page=2", { email: "Ann@GMAIL.com", name: "  <b>ann  ", tags: ["a", "b"] }, { "x-token": "t" });
        assert.deepEqual([good.status, good.json.data], [200, { id: 7, page: 2, "x-token": "t", email: "ann@gmail.com", name: "&lt;b&gt;ann", tags: ["A", "B"] }]);
        assert.deepEqual([good.json.params, good.json.body.name], [{ id: 7 }, "&lt;b&gt;ann"]);
        const bad = await peer.json("POST", "/users/x?page=0", { email: "none", name: " " });
        assert.deepEqual([bad.status, bad.json.map(({ location, path }) => `${location}.${path}`)], [422, ["params.id", "query.page", "headers.x-token", "body.email", "body.name"]]);
    });

    it("schemas, alternatives, custom and imperative checks", async ({ listen }) => {
        const app = express().use(express.json());
        app.post("/schema", checkSchema({ age: { in: ["body"], isInt: { options: { min: 18 }, errorMessage: "too young" }, toInt: true } }), answer);
        app.post("/one", oneOf([body("email").isEmail(), body("phone").isMobilePhone("de-DE")]), answer);
        app.post("/custom", body("name").custom(async (value) => {
            if (value === "taken") throw new Error("taken already");
        }), answer);
        app.get("/run", async (request, response) => {
            const result = await query("q").notEmpty().run(request);
            response.json({ ok: result.isEmpty() });
        });
        const peer = await listen(app);
        assert.deepEqual([(await peer.json("POST", "/schema", { age: "17" })).json[0].msg, (await peer.json("POST", "/schema", { age: "18" })).json.data], ["too young", { age: 18 }]);
        assert.deepEqual([(await peer.json("POST", "/one", { phone: "01701234567" })).status, (await peer.json("POST", "/one", {})).status], [200, 422]);
        assert.equal((await peer.json("POST", "/custom", { name: "taken" })).json[0].msg, "taken already");
        assert.deepEqual([(await peer.get("/run?q=1")).json, (await peer.get("/run")).json], [{ ok: true }, { ok: false }]);
    });
});

middleware("celebrate", ({ express, it }) => {
    it("values are checked, converted and defaulted; errors name the segment", async ({ listen }) => {
        const app = express().use(express.json());
        app.post("/items/:id", celebrate({ [Segments.PARAMS]: { id: Joi.number().integer() }, [Segments.BODY]: Joi.object({ name: Joi.string().required(), size: Joi.number().default(1) }) }), (request, response) => response.json({ body: request.body, params: request.params }));
        app.get("/search", celebrate({ [Segments.QUERY]: { page: Joi.number().default(1), q: Joi.string() } }), (request, response) => response.json(request.query));
        app.get("/own", celebrate({ [Segments.HEADERS]: Joi.object({ "x-token": Joi.string().required() }).unknown() }), (request, response) => response.json("in"));
        app.use("/own", (error, request, response, next) => response.status(401).json([isCelebrateError(error), [...error.details.keys()]]));
        app.use(errors());
        const peer = await listen(app);
        assert.deepEqual((await peer.json("POST", "/items/7", { name: "a" })).json, { body: { name: "a", size: 1 }, params: { id: 7 } });
        const bad = await peer.json("POST", "/items/7", { size: 2 });
        assert.deepEqual([bad.status, bad.json.validation.body.keys], [400, ["name"]]);
        assert.deepEqual((await peer.get("/search?q=a")).json, { page: 1, q: "a" });
        assert.deepEqual((await peer.get("/own")).json, [true, ["headers"]]);
        assert.equal((await peer.get("/own", { "x-token": "t" })).json, "in");
    });
});

middleware("express-openapi-validator", ({ express, it }) => {
    const text = { type: "string" };
    const apiSpec = {
        openapi: "3.0.3",
        info: { title: "items", version: "1.0.0" },
        servers: [{ url: "/v1" }],
        paths: {
            "/items/{id}": {
                parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
                get: { parameters: [{ name: "deep", in: "query", schema: { type: "boolean" } }], responses: { 200: { description: "one", content: { "application/json": { schema: { type: "object", required: ["id"], properties: { id: { type: "integer" }, name: text } } } } } } },
                put: { security: [{ key: [] }], requestBody: { required: true, content: { "application/json": { schema: { type: "object", additionalProperties: false, required: ["name"], properties: { name: { ...text, minLength: 2 } } } } } }, responses: { 204: { description: "stored" } } },
            },
        },
        components: { securitySchemes: { key: { type: "apiKey", in: "header", name: "x-key" } } },
    };
    const app = () => {
        const made = express().use(express.json(), openApiValidator.middleware({ apiSpec, validateResponses: true, validateSecurity: { handlers: { key: (request) => request.headers["x-key"] === "k" } } }));
        made.get("/v1/items/:id", (request, response) => response.json(request.params.id === 13 ? { name: "no id" } : { id: request.params.id, name: typeof request.params.id }));
        made.put("/v1/items/:id", (request, response) => response.sendStatus(204));
        made.get("/v1/unknown", (request, response) => response.json("hidden"));
        made.get("/outside", (request, response) => response.json("outside"));
        return made.use((error, request, response, next) => response.status(error.status ?? 500).json({ message: error.message, errors: error.errors?.map(({ path }) => path) }));
    };

    it("requests: parameters are converted, bodies and keys checked, unknown paths refused", async ({ listen }) => {
        const peer = await listen(app());
        assert.deepEqual((await peer.get("/v1/items/7")).json, { id: 7, name: "number" });
        assert.equal((await peer.get("/v1/items/x")).status, 400);
        assert.equal((await peer.get("/v1/items/7?more=1")).status, 400);
        assert.equal((await peer.json("PUT", "/v1/items/7", { name: "ok" }, { "x-key": "k" })).status, 204);
        assert.deepEqual((await peer.json("PUT", "/v1/items/7", { name: "x" }, { "x-key": "k" })).json.errors, ["/body/name"]);
        assert.equal((await peer.json("PUT", "/v1/items/7", { name: "ok" })).status, 401);
        assert.equal((await peer.request("PUT", "/v1/items/7", { headers: { "x-key": "k", "content-type": "text/plain" }, body: "name" })).status, 415);
        assert.deepEqual([(await peer.get("/v1/unknown")).status, (await peer.request("DELETE", "/v1/items/7")).status, (await peer.get("/outside")).json], [404, 405, "outside"]);
    });

    it("replies: what breaks the description is an error", async ({ listen }) => {
        const peer = await listen(app());
        const broken = await peer.get("/v1/items/13");
        assert.equal(broken.status, 500);
        assert.match(broken.json.message, /\/response must have required property 'id'/);
    });
});

if (major === 4) {
    const mongoSanitize = await use("express-mongo-sanitize");

    middleware("express-mongo-sanitize", ({ express, it }) => {
        it("keys of queries and bodies that are operators", async ({ listen }) => {
            const told = [];
            const app = express().use(express.json(), mongoSanitize({ onSanitize: ({ key }) => told.push(key) })).post("/", (request, response) => response.json([request.body, request.query]));
            const peer = await listen(app);
            assert.deepEqual((await peer.json("POST", "/?a[$gt]=1&b=2", { name: { $ne: null }, "a.b": 1, ok: "$in" })).json, [{ name: {}, ok: "$in" }, { a: {}, b: "2" }]);
            assert.deepEqual(told.sort(), ["body", "query"]);
        });
    });
}
