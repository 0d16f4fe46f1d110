import Fastify from "fastify";
import { announce } from "./announce.mjs";

const app = Fastify();
app.addContentTypeParser("application/octet-stream", (request, payload, done) => done(null, payload));
app.get("/", async () => ({ hello: "world" }));
app.post("/echo", async (request, reply) => reply.send(request.body));
app.get("/throws", async (request, reply) => reply.code(418).send("thrown"));
await app.listen({ port: 0, host: "127.0.0.1" });
announce(app.server, () => app.close());
