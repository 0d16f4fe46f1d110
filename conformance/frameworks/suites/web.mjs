// Frameworks that turn Node's messages into web Requests and Responses: h3 (Nitro, Nuxt), GraphQL Yoga, tRPC.
import assert from "node:assert/strict";
import { once } from "node:events";
import { initTRPC } from "@trpc/server";
import { createHTTPHandler } from "@trpc/server/adapters/standalone";
import { createSchema, createYoga } from "graphql-yoga";
import { H3, HTTPError, getRequestIP, readBody, toNodeHandler } from "h3";
import { MIB, bytesOf, digest, pieces } from "../bytes.mjs";
import { deferred } from "../deferred.mjs";
import { suite } from "../suite.mjs";

suite("h3", ({ http, it }) => {
    it("routes, bodies, streams and errors", async ({ listen }) => {
        const large = bytesOf(3 * MIB);
        const app = new H3({ silent: true });
        app.get("/", () => "root");
        app.get("/items/:id", (event) => ({ id: event.context.params.id, query: event.url.searchParams.get("q"), from: getRequestIP(event), accept: event.req.headers.get("accept") }));
        app.post("/items", async (event) => {
            event.res.status = 201;
            event.res.headers.set("x-own", "1");
            return readBody(event);
        });
        app.post("/echo", (event) => event.req.body);
        app.get("/stream", () => ReadableStream.from(pieces(large, 50_000)));
        app.get("/response", () => new Response("web", { status: 203, headers: [["set-cookie", "a=1"], ["set-cookie", "b=2"]] }));
        app.get("/throws", () => {
            throw new HTTPError({ status: 418, message: "thrown" });
        });
        const peer = await listen(http.createServer(toNodeHandler(app)));
        assert.equal((await peer.get("/")).text, "root");
        assert.deepEqual((await peer.get("/items/5?q=a%20b", { accept: "x/y" })).json, { id: "5", query: "a b", from: "127.0.0.1", accept: "x/y" });
        const created = await peer.json("POST", "/items", { a: "ü" });
        assert.deepEqual([created.status, created.headers["x-own"], created.json], [201, "1", { a: "ü" }]);
        assert.equal(digest((await peer.request("POST", "/echo", { body: pieces(large, 65_536) })).bytes), digest(large));
        assert.equal(digest((await peer.get("/stream")).bytes), digest(large));
        const response = await peer.get("/response");
        assert.deepEqual([response.status, response.headers["set-cookie"]], [203, ["a=1", "b=2"]]);
        assert.equal((await peer.get("/throws")).status, 418);
        assert.equal((await peer.get("/none")).status, 404);
    });

    it("a client that leaves aborts the request's signal", async ({ listen }) => {
        const aborted = deferred();
        const begun = deferred();
        const app = new H3({ silent: true });
        app.get("/", async (event) => {
            event.req.signal.addEventListener("abort", () => aborted.resolve("aborted"));
            begun.resolve();
            await aborted.promise;
            return "unread";
        });
        const peer = await listen(http.createServer(toNodeHandler(app)));
        const request = peer.open("GET", "/");
        request.on("error", () => {});
        request.end();
        await begun.promise;
        request.destroy();
        assert.equal(await aborted.promise, "aborted");
    });
});

suite("graphql-yoga", ({ http, it }) => {
    it("queries, uploads and subscriptions over server-sent events", async ({ listen }) => {
        const schema = createSchema({
            typeDefs: "scalar File type Query { hello(name: String): String, fails: String } type Mutation { size(file: File!): Int! } type Subscription { count(to: Int!): Int! }",
            resolvers: {
                Query: { hello: (_, { name }) => `hello ${name ?? "world"}`, fails: () => {
                    throw new Error("hidden");
                } },
                Mutation: { size: async (_, { file }) => (await file.arrayBuffer()).byteLength },
                Subscription: { count: { subscribe: async function* (_, { to }) {
                    for (let count = 1; count <= to; count += 1) yield { count };
                } } },
            },
        });
        const peer = await listen(http.createServer(createYoga({ schema, logging: false, landingPage: false })));
        const post = (body) => peer.json("POST", "/graphql", body);
        assert.deepEqual((await post({ query: '{ hello(name: "Zoë") }' })).json, { data: { hello: "hello Zoë" } });
        assert.equal((await post({ query: "{ fails }" })).json.errors[0].message, "Unexpected error.");
        assert.deepEqual((await peer.get(`/graphql?query=${encodeURIComponent("{ hello }")}`)).json, { data: { hello: "hello world" } });
        assert.equal((await peer.request("POST", "/graphql", { headers: { "content-type": "application/json" }, body: "{" })).status, 400);
        const form = new FormData();
        form.append("operations", JSON.stringify({ query: "mutation ($file: File!) { size(file: $file) }", variables: { file: null } }));
        form.append("map", JSON.stringify({ 0: ["variables.file"] }));
        form.append("0", new Blob([bytesOf(2 * MIB)]), "f.bin");
        const upload = await fetch(`${peer.origin}/graphql`, { method: "POST", body: form });
        assert.deepEqual(await upload.json(), { data: { size: 2 * MIB } });
        const events = await peer.get(`/graphql?query=${encodeURIComponent("subscription { count(to: 3) }")}`, { accept: "text/event-stream" });
        assert.deepEqual([...events.text.matchAll(/"count":(\d)/g)].map((match) => match[1]), ["1", "2", "3"]);
        assert.equal((await peer.get("/none")).status, 404);
    });
});

suite("trpc", ({ http, it }) => {
    it("queries, mutations, batches, errors and subscriptions", async ({ listen }) => {
        const trpc = initTRPC.context().create();
        const router = trpc.router({
            hello: trpc.procedure.query(({ ctx }) => `hello ${ctx.name ?? "world"}`),
            add: trpc.procedure.input((value) => value).mutation(({ input }) => input.a + input.b),
            fails: trpc.procedure.query(() => {
                throw new Error("it fails");
            }),
            ticks: trpc.procedure.subscription(async function* () {
                yield 1;
                yield 2;
            }),
        });
        const peer = await listen(http.createServer(createHTTPHandler({ router, createContext: ({ req }) => ({ name: req.headers["x-name"] }) })));
        assert.deepEqual((await peer.get("/hello", { "x-name": "you" })).json, { result: { data: "hello you" } });
        assert.deepEqual((await peer.json("POST", "/add", { a: 1, b: 2 })).json, { result: { data: 3 } });
        assert.deepEqual((await peer.get("/hello,hello?batch=1&input=%7B%7D")).json, [{ result: { data: "hello world" } }, { result: { data: "hello world" } }]);
        // The reply holds a stack trace, so that its length is not comparable.
        const failed = await fetch(`${peer.origin}/fails`);
        assert.equal(failed.status, 500);
        assert.equal((await failed.json()).error.message, "it fails");
        assert.equal((await fetch(`${peer.origin}/none`)).status, 404);
        const request = peer.open("GET", "/ticks", { accept: "text/event-stream" });
        request.end();
        const [response] = await once(request, "response");
        const events = (await peer.read(response, "GET /ticks")).text;
        assert.deepEqual([...events.matchAll(/^data: (\d)$/gm)].map((match) => match[1]), ["1", "2"]);
    });
});
