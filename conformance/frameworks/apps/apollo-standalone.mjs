import { ApolloServer } from "@apollo/server";
import { startStandaloneServer } from "@apollo/server/standalone";
import http from "node:http";
import { announce } from "./announce.mjs";
import { resolvers, typeDefs } from "./apollo-schema.mjs";

// Apollo keeps its server to itself; it is the one that listens.
let listening;
const listen = http.Server.prototype.listen;
http.Server.prototype.listen = function (...args) {
    listening = this;
    return listen.apply(this, args);
};
const apollo = new ApolloServer({ typeDefs, resolvers, includeStacktraceInErrorResponses: false, stopOnTerminationSignals: false });
await startStandaloneServer(apollo, { listen: { port: 0, host: "127.0.0.1" }, context: async ({ req }) => ({ headers: req.headers }) });
announce(listening, () => apollo.stop());
