// Apollo Server: its Express integration with a server of the target's, and standalone as a program.
import assert from "node:assert/strict";
import { ApolloServer } from "@apollo/server";
import { ApolloServerPluginDrainHttpServer } from "@apollo/server/plugin/drainHttpServer";
import { expressMiddleware } from "@as-integrations/express5";
import cors from "cors";
import express from "express";
import { resolvers, typeDefs } from "../apps/apollo-schema.mjs";
import { deferred } from "../deferred.mjs";
import { Peer } from "../peer.mjs";
import { appSuite, suite } from "../suite.mjs";

const query = (text, variables) => ({ query: text, variables });

async function assertions(peer, path) {
    const post = (body, headers) => peer.json("POST", path, body, headers);
    assert.deepEqual((await post(query("{ hello }"))).json, { data: { hello: "hello world" } });
    assert.deepEqual((await post(query("query ($name: String) { hello(name: $name) }", { name: "Zoë" }))).json, { data: { hello: "hello Zoë" } });
    assert.deepEqual((await post(query('mutation { add(name: "one") { id name } }'))).json, { data: { add: { id: "new", name: "one" } } });
    assert.deepEqual((await post(query('{ header(name: "x-token") }'), { "x-token": "t" })).json, { data: { header: "t" } });
    assert.equal((await post(query("{ items(count: 20000) { id name } }"))).json.data.items.length, 20_000);
    const failed = await post(query("{ fails }"));
    assert.deepEqual([failed.status, failed.json.data, failed.json.errors[0].message], [200, { fails: null }, "it fails"]);
    assert.equal((await post(query("{ unknown }"))).status, 400);
    assert.equal((await peer.request("POST", path, { headers: { "content-type": "application/json" }, body: "{" })).status, 400);
    assert.deepEqual((await peer.get(`${path}?query=${encodeURIComponent("{ hello }")}`, { "apollo-require-preflight": "1" })).json, { data: { hello: "hello world" } });
    const forged = await peer.get(`${path}?query=${encodeURIComponent("{ hello }")}`);
    assert.match(forged.text, /CSRF/);
    const preflight = await peer.request("OPTIONS", path, { headers: { origin: "http://one.test", "access-control-request-method": "POST" } });
    assert.deepEqual([preflight.status, preflight.headers["access-control-allow-origin"]], [204, "*"]);
    assert.equal(peer.sockets.size, 1);
    // The page holds a nonce, so that no two of them are comparable.
    const visitor = new Peer(peer.port, []);
    assert.match((await visitor.get(path, { accept: "text/html" })).text, /<!DOCTYPE html>/);
    visitor.close();
}

suite("apollo with express", ({ http, it }) => {
    async function serve({ listen, after }, hooks = {}) {
        const app = express();
        const server = http.createServer(app);
        const apollo = new ApolloServer({ typeDefs, resolvers, includeStacktraceInErrorResponses: false, stopOnTerminationSignals: false, plugins: [ApolloServerPluginDrainHttpServer({ httpServer: server })], ...hooks });
        await apollo.start();
        after(() => apollo.stop());
        app.use("/graphql", cors(), express.json({ limit: "5mb" }), expressMiddleware(apollo, { context: async ({ req }) => ({ headers: req.headers }) }));
        app.use((error, request, response, next) => response.status(error.status).json({ error: error.message }));
        return { peer: await listen(server), apollo, server };
    }

    it("queries, mutations, errors", async (context) => {
        const { peer } = await serve(context);
        await assertions(peer, "/graphql");
    });

    it("stop() drains: the operation in hand is answered, then the server is closed", async (context) => {
        const begun = deferred();
        const release = deferred();
        const slow = { ...resolvers, Query: { ...resolvers.Query, hello: async () => {
            begun.resolve();
            await release.promise;
            return "slow";
        } } };
        const { peer, apollo, server } = await serve(context, { resolvers: slow });
        const reply = peer.json("POST", "/graphql", query("{ hello }"));
        await begun.promise;
        const stopped = apollo.stop();
        release.resolve();
        assert.deepEqual((await reply).json, { data: { hello: "slow" } });
        await stopped;
        assert.equal(server.listening, false);
    });
});

appSuite("apollo standalone", "apps/apollo-standalone.mjs", ({ it }) => {
    it("queries, mutations, errors, and ends on SIGTERM", async ({ start }) => assertions(await start(), "/"));
});
