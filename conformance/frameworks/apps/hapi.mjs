import Hapi from "@hapi/hapi";
import { announce } from "./announce.mjs";

const app = Hapi.server({ port: 0, host: "127.0.0.1" });
app.route({ method: "GET", path: "/", handler: () => ({ hello: "world" }) });
app.route({ method: "POST", path: "/echo", options: { payload: { output: "stream", parse: false, maxBytes: 1 << 24 } }, handler: (request, h) => h.response(request.payload) });
app.route({ method: "GET", path: "/throws", handler: (request, h) => h.response("thrown").code(418) });
await app.start();
announce(app.listener, () => app.stop());
