// express-async-errors changes Express 4's Layer for the whole process, so it gets one of its own.
const { createRequire } = require("node:module");

const project = createRequire(`${process.cwd()}/package.json`);
const express = project(process.env.LEAT_EXPRESS ?? "express");
project("express-async-errors");

const app = express();
app.param("id", async (request, response, next, id) => {
    if (id === "bad") throw Object.assign(new Error("bad id"), { status: 422 });
    next();
});
app.use("/guarded", async (request) => {
    await null;
    if (request.query.key !== "k") throw Object.assign(new Error("no key"), { status: 401 });
    request.next();
});
app.get("/guarded", (request, response) => response.json("in"));
app.get("/rejects", async () => {
    await null;
    throw Object.assign(new Error("rejected"), { status: 409 });
});
app.get("/items/:id", async (request, response) => response.json(request.params.id));
const router = express.Router();
router.get("/leaf", async () => {
    throw Object.assign(new Error("deep"), { status: 410 });
});
app.use("/below", router);
app.use((error, request, response, next) => response.status(error.status ?? 500).json(error.message));

const server = app.listen(0, "127.0.0.1", () => require("./announce.cjs")(server, express));
