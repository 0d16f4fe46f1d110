// An Express app whose handlers fail, on the subject: the server of express.test.mjs.
import { createRequire } from "node:module";
import { http } from "../../subject.mjs";
import { tried, worded } from "../tried.mjs";

const express = createRequire(import.meta.url)("express");
const app = express();
app.disable("x-powered-by");
const seen = [];
const say = (line) => seen.push(line);
process.on("uncaughtException", (error) => say(`uncaught ${worded(error)}`));
process.on("unhandledRejection", (error) => say(`unhandled ${worded(error)}`));

const boom = () => { throw new Error("boom"); };
const routes = {
    throws: boom,
    async rejects() {
        await null;
        boom();
    },
    next: (req, res, next) => next(new Error("passed on")),
    "next-status": (req, res, next) => next(Object.assign(new Error("teapot"), { status: 418, headers: { "x-reason": "tea" } })),
    "sends-twice"(req, res) {
        res.send("once");
        res.send("twice");
    },
    "fails-after-send"(req, res, next) {
        res.send("once");
        next(new Error("late"));
    },
    "fails-in-the-middle"(req, res, next) {
        res.write("part");
        next(new Error("late"));
    },
    "header-after-send"(req, res) {
        res.send("once");
        say(tried(() => res.set("x-late", "1")));
        say(tried(() => res.status(500)));
        say(tried(() => res.redirect("/elsewhere")));
    },
    "bad-status": (req, res) => res.status(99).send("no"),
    "bad-header": (req, res) => res.set("a b", "c").send("no"),
    "bad-value": (req, res) => res.set("x-value", "a\nb").send("no"),
    circular(req, res) {
        const it = {};
        it.it = it;
        res.json(it);
    },
    "no-file": (req, res) => res.sendFile("/no/such/file"),
    "throws-later"(req, res) {
        setImmediate(() => {
            res.send("ok");
            boom();
        });
    },
};
for (const [name, handle] of Object.entries(routes)) app.get(`/${name}`, handle);
app.post("/json", express.json({ limit: 100 }), (req, res) => res.json(req.body));
app.post("/text", express.text({ limit: 100 }), (req, res) => res.send(req.body));
app.get("/param/:name", (req, res) => res.send(req.params.name));
app.get("/seen", (req, res) => res.json(seen.splice(0)));

const server = http.createServer(app);
server.listen(0, "127.0.0.1", () => console.log(`port ${server.address().port}`));
