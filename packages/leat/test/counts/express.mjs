// An app of `LIBRARY` (Express, by whichever name) whose replies hold the number in the path. Asked over IPC, it tells what
// its lane has counted, and samples what V8 allocates between "sample" and "sampled".
import { createRequire } from "node:module";
import { counting } from "./counting.mjs";

const library = process.argv[2] ?? "leat/express";
const require = createRequire(library.startsWith("leat/") ? import.meta.url : new URL("../express/differential/package.json", import.meta.url));
const express = require(library);

const app = express();
const pass = (req, res, next) => {
    req.passed = (req.passed ?? 0) + 1;
    next();
};
app.get("/json/:id", (req, res) => res.json(Number(req.params.id)));
app.get("/params/:id/posts/:post", (req, res) => res.send(req.query.tag === "x" && req.params.post !== "" ? req.params.id : ""));
app.post("/body/:id", express.json(), (req, res) => res.json(req.body.number));
app.get("/chain/:id", pass, pass, pass, (req, res) => res.json(req.passed === 3 ? Number(req.params.id) : 0));
counting(app.listen(0, "127.0.0.1"));
