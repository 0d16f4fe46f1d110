// CommonJS, and `app.listen`: Express calls http.createServer by itself.
const express = require("express");

const app = express();
app.get("/", (request, response) => response.json({ hello: "world" }));
app.post("/echo", (request, response) => request.pipe(response.type("bin")));
app.get("/throws", () => {
    throw Object.assign(new Error("thrown"), { status: 418 });
});
app.use((error, request, response, next) => response.status(error.status).send(error.message));
const server = app.listen(0, "127.0.0.1", async () => {
    const { announce } = await import("./announce.mjs");
    announce(server, () => new Promise((resolve) => server.close(resolve)));
});
