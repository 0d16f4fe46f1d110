import restana from "restana";
import { announce } from "./announce.mjs";

const app = restana();
app.get("/", (request, response) => response.send({ hello: "world" }));
app.post("/echo", (request, response) => request.pipe(response));
app.get("/throws", (request, response) => response.send("thrown", 418));
announce(await app.start(0, "127.0.0.1"), () => app.close());
