import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { announce } from "./announce.mjs";

const app = new Hono();
app.get("/", (c) => c.json({ hello: "world" }));
app.post("/echo", (c) => c.body(c.req.raw.body));
app.get("/throws", (c) => c.text("thrown", 418));
const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () => announce(server, () => new Promise((resolve) => server.close(resolve))));
