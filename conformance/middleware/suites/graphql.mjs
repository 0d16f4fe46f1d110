// GraphQL, and the pages of an API.
import assert from "node:assert/strict";
import { major, use } from "../subjects.mjs";
import { middleware } from "../suite.mjs";

const { ApolloServer, HeaderMap } = await use("@apollo/server", { all: true });
const { ApolloServerPluginDrainHttpServer } = await use("@apollo/server/plugin/drainHttpServer", { all: true });
const { expressMiddleware } = await use(`@as-integrations/express${major}`, { all: true });
const { createHandler } = await use("graphql-http/lib/use/express", { all: true });
const { buildSchema } = await use("graphql", { all: true });
const { createYoga, createSchema } = await use("graphql-yoga", { all: true });
const { initTRPC, TRPCError } = await use("@trpc/server", { all: true });
const { createExpressMiddleware } = await use("@trpc/server/adapters/express", { all: true });
const swaggerUi = await use("swagger-ui-express");
const cors = await use("cors");

middleware(["@apollo/server", `@as-integrations/express${major}`], ({ express, http, it }) => {
    async function started(after) {
        const app = express();
        const server = http.createServer(app);
        const apollo = new ApolloServer({
            typeDefs: "type Query { hello(name: String): String, who: String, fails: Int, list: [Int] } type Mutation { add(a: Int!, b: Int!): Int }",
            resolvers: {
                Query: {
                    hello: (_, { name }) => `hello ${name ?? "world"}`,
                    who: (_, __, context) => context.token,
                    fails: () => {
                        throw new Error("on purpose");
                    },
                    list: () => [1, 2, 3],
                },
                Mutation: { add: (_, { a, b }) => a + b },
            },
            includeStacktraceInErrorResponses: false,
            plugins: [ApolloServerPluginDrainHttpServer({ httpServer: server })],
        });
        await apollo.start();
        after(() => apollo.stop());
        app.use("/graphql", cors(), express.json({ limit: "50mb" }), expressMiddleware(apollo, { context: async ({ req: request, res: response }) => {
            response.set("x-context", request.path);
            return { token: request.get("x-token") };
        } }));
        app.get("/health", (request, response) => response.json(HeaderMap !== undefined));
        return server;
    }

    it("queries, variables, mutations, context, and GET", async ({ listen, after }) => {
        const peer = await listen(await started(after));
        const ask = async (body, headers) => (await peer.json("POST", "/graphql", body, headers)).json;
        assert.deepEqual(await ask({ query: "query ($name: String) { hello(name: $name) list }", variables: { name: "Ann" } }), { data: { hello: "hello Ann", list: [1, 2, 3] } });
        assert.deepEqual(await ask({ query: "mutation { add(a: 1, b: 2) }" }), { data: { add: 3 } });
        assert.deepEqual(await ask({ query: "{ who }" }, { "x-token": "t" }), { data: { who: "t" } });
        const get = await peer.get(`/graphql?query=${encodeURIComponent("{ hello }")}`, { "apollo-require-preflight": "1" });
        assert.deepEqual([get.json, get.headers["x-context"], get.headers["access-control-allow-origin"]], [{ data: { hello: "hello world" } }, "/", "*"]);
        assert.equal((await peer.get("/health")).json, true);
    });

    it("errors, bad requests, and forged forms", async ({ listen, after }) => {
        const peer = await listen(await started(after));
        const failed = await peer.json("POST", "/graphql", { query: "{ fails }" });
        assert.deepEqual([failed.status, failed.json.errors[0].message, failed.json.data], [200, "on purpose", { fails: null }]);
        assert.equal((await peer.json("POST", "/graphql", { query: "{ none }" })).status, 400);
        assert.equal((await peer.json("POST", "/graphql", {})).status, 400);
        assert.equal((await peer.request("POST", "/graphql", { headers: { "content-type": "application/json" }, body: "{cut" })).status, 400);
        const forged = await peer.get(`/graphql?query=${encodeURIComponent("{ hello }")}`);
        assert.deepEqual([forged.status, forged.json.errors[0].extensions.code], [400, "BAD_REQUEST"]);
        assert.equal((await peer.request("DELETE", "/graphql", { headers: { "apollo-require-preflight": "1" } })).status, 405);
    });

    it("a landing page for browsers", async ({ listen, after }) => {
        const peer = await listen(await started(after), { changing: ["body"] });
        const page = await peer.get("/graphql", { accept: "text/html" });
        assert.match(page.headers["content-type"], /^text\/html/);
        assert.match(page.text, /<title>Apollo Server<\/title>/);
    });

    it("a request whose body nobody parsed", async ({ listen, after }) => {
        const apollo = new ApolloServer({ typeDefs: "type Query { hello: String }" });
        await apollo.start();
        after(() => apollo.stop());
        const peer = await listen(express().use("/graphql", expressMiddleware(apollo)));
        const reply = await peer.json("POST", "/graphql", { query: "{ hello }" });
        assert.equal(reply.status, 500);
        assert.match(reply.text, /req\.body/);
    });
});

middleware("graphql-http", ({ express, it }) => {
    const schema = buildSchema("type Query { hello(name: String): String, path: String }");
    const rootValue = { hello: ({ name }) => `hello ${name ?? "world"}`, path: (_, { path }) => path };
    const app = () => express().all("/graphql", createHandler({ schema, rootValue, context: ({ raw }) => ({ path: raw.path }) }));

    it("POST and GET, with the request's context", async ({ listen }) => {
        const peer = await listen(app());
        assert.deepEqual((await peer.json("POST", "/graphql", { query: "query ($name: String) { hello(name: $name) path }", variables: { name: "Ann" } })).json, { data: { hello: "hello Ann", path: "/graphql" } });
        const get = await peer.get(`/graphql?query=${encodeURIComponent("{ hello }")}`, { accept: "application/graphql-response+json" });
        assert.deepEqual([get.json, get.headers["content-type"]], [{ data: { hello: "hello world" } }, "application/graphql-response+json; charset=utf-8"]);
    });

    it("what it refuses, and a body that was parsed before", async ({ listen }) => {
        const peer = await listen(express().use("/parsed", express.json(), createHandler({ schema, rootValue })).use(app()));
        assert.deepEqual((await peer.json("POST", "/parsed", { query: "{ hello }" })).json, { data: { hello: "hello world" } });
        const statuses = [(await peer.json("POST", "/graphql", { query: "{ none }" }, { accept: "application/graphql-response+json" })).status, (await peer.request("POST", "/graphql", { headers: { "content-type": "text/plain" }, body: "x" })).status, (await peer.request("PUT", "/graphql")).status, (await peer.get("/graphql?query=%7B")).status];
        assert.deepEqual(statuses, [400, 415, 405, 200]);
    });
});

middleware("graphql-yoga", ({ express, it }) => {
    it("queries, context, errors, streams and its page", async ({ listen }) => {
        const yoga = createYoga({
            logging: false,
            schema: createSchema({
                typeDefs: "type Query { hello: String, path: String, fails: Int } type Subscription { count(to: Int!): Int! }",
                resolvers: {
                    Query: {
                        hello: () => "world",
                        path: (_, __, { req: request }) => request.path,
                        fails: () => {
                            throw new Error("on purpose");
                        },
                    },
                    Subscription: { count: { async *subscribe(_, { to }) {
                        for (let at = 1; at <= to; at += 1) yield { count: at };
                    } } },
                },
            }),
        });
        const peer = await listen(express().use("/graphql", yoga));
        assert.deepEqual((await peer.json("POST", "/graphql", { query: "{ hello path }" })).json, { data: { hello: "world", path: "/" } });
        assert.equal((await peer.json("POST", "/graphql", { query: "{ fails }" })).json.errors[0].message, "Unexpected error.");
        assert.equal((await peer.json("POST", "/graphql", { query: "{" })).json.errors.length, 1);
        const stream = await peer.get(`/graphql?query=${encodeURIComponent("subscription { count(to: 2) }")}`, { accept: "text/event-stream" });
        assert.deepEqual([stream.headers["content-type"], stream.text.match(/"count":\d/g)], ["text/event-stream", ['"count":1', '"count":2']]);
        assert.match((await peer.get("/graphql", { accept: "text/html" })).text, /<title>Yoga GraphiQL<\/title>/);
    });
});

middleware("@trpc/server", ({ express, it }) => {
    it("queries, mutations, batches, context and errors", async ({ listen }) => {
        const t = initTRPC.context().create({ isDev: false });
        const router = t.router({
            hello: t.procedure.query(({ ctx }) => `hello ${ctx.name}`),
            add: t.procedure.input((value) => value).mutation(({ input }) => input.a + input.b),
            refused: t.procedure.query(() => {
                throw new TRPCError({ code: "FORBIDDEN", message: "not you" });
            }),
        });
        const app = express();
        app.use("/trpc", createExpressMiddleware({ router, createContext: ({ req: request, res: response }) => {
            response.set("x-context", request.originalUrl.split("?")[0]);
            return { name: request.get("x-name") ?? "nobody" };
        } }));
        app.use("/parsed", express.json(), createExpressMiddleware({ router, createContext: () => ({ name: "parsed" }) }));
        const peer = await listen(app);
        const hello = await peer.get("/trpc/hello", { "x-name": "Ann" });
        assert.deepEqual([hello.json, hello.headers["x-context"]], [{ result: { data: "hello Ann" } }, "/trpc/hello"]);
        assert.deepEqual((await peer.json("POST", "/trpc/add", { a: 1, b: 2 })).json, { result: { data: 3 } });
        assert.deepEqual((await peer.json("POST", "/parsed/add", { a: 3, b: 4 })).json, { result: { data: 7 } });
        assert.deepEqual((await peer.get("/trpc/hello,refused?batch=1&input=%7B%7D")).json.map(({ result, error }) => result?.data ?? error.data.code), ["hello nobody", "FORBIDDEN"]);
        assert.equal((await peer.get("/trpc/none")).status, 404);
    });
});

middleware("swagger-ui-express", ({ express, it }) => {
    const document = { openapi: "3.0.3", info: { title: "Items", version: "1.0.0" }, paths: { "/items": { get: { responses: { 200: { description: "all" } } } } } };

    it("the page, its script with the document, and the files beside it", async ({ listen }) => {
        const peer = await listen(express().use("/docs", swaggerUi.serve, swaggerUi.setup(document, { customSiteTitle: "The items", explorer: true })));
        const page = await peer.get("/docs/");
        assert.match(page.text, /<title>The items<\/title>/);
        assert.match((await peer.get("/docs/swagger-ui-init.js")).text, /"title": "Items"/);
        const bundle = await peer.get("/docs/swagger-ui-bundle.js");
        assert.deepEqual([bundle.status, bundle.bytes.length > 500_000], [200, true]);
        assert.match((await peer.get("/docs/swagger-ui.css")).headers["content-type"], /css/);
        assert.equal((await peer.get("/docs")).headers.location, "/docs/");
    });

    it("two documents, each with its own", async ({ listen }) => {
        const app = express();
        for (const name of ["one", "two"]) app.use(`/${name}`, swaggerUi.serveFiles({ ...document, info: { title: name, version: "1" } }), swaggerUi.setup({ ...document, info: { title: name, version: "1" } }));
        app.use("/by-request", (request, response, next) => {
            request.swaggerDoc = { ...document, info: { title: request.hostname, version: "1" } };
            next();
        }, swaggerUi.serveFiles(), swaggerUi.setup());
        const peer = await listen(app);
        for (const name of ["one", "two"]) assert.match((await peer.get(`/${name}/swagger-ui-init.js`)).text, new RegExp(`"title": "${name}"`));
        assert.match((await peer.get("/by-request/swagger-ui-init.js")).text, /"title": "127\.0\.0\.1"/);
    });
});
