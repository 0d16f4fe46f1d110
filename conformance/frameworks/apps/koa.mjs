import Koa from "koa";
import { announce } from "./announce.mjs";

const app = new Koa();
app.silent = true;
app.use((ctx) => {
    if (ctx.path === "/") ctx.body = { hello: "world" };
    if (ctx.path === "/echo") ctx.body = ctx.req;
    if (ctx.path === "/throws") ctx.throw(418, "thrown");
});
const server = app.listen(0, "127.0.0.1", () => announce(server, () => new Promise((resolve) => server.close(resolve))));
