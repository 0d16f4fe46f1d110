// Clients that go away: before, while and after a program answers.
import { createReadStream, stat } from "node:fs";
import { pipeline } from "node:stream";
import { get, post, tells, told } from "../shapes.mjs";

/** A program that logs "started", and a client that leaves then (or once it has some of the reply), as `leaves` says. */
const left = (name, handler, leaves, ends, more = {}) => ({
    name,
    app(express, t) {
        const app = express();
        app.use((req, res, next) => handler(req, res, next, t, express));
        app.use(tells(t));
        return app;
    },
    requests: [get("/", {}, leaves)],
    ends,
    ...more,
});
const ASKED = { abortAfter: Infinity, wait: "started" };
const SOME = { abortAfterReply: 1000 };
const outcome = (t, name) => (error) => t.log(`${name} ${error ? told(error) : "well"}`);
/** Calls back when what was begun before, a look at a file included, has had its say. */
const settled = (t, done) => void stat(t.dir, () => void stat(t.dir, () => void setImmediate(() => void setImmediate(done))));
/** Large enough that it cannot all be in buffers on its way. */
const ENDLESS = 400;

export default [
    left("sendFile, left in the middle", (req, res, next, t) => {
        res.sendFile(`${t.dir}/endless/zeros.bin`, outcome(t, "sendFile"));
    }, SOME, "sendFile "),
    left("a pipeline left in the middle", (req, res, next, t) => void pipeline(createReadStream(`${t.dir}/endless/zeros.bin`), res, outcome(t, "pipeline")), SOME, "pipeline "),
    left("a pipe left in the middle", (req, res, next, t) => {
        const zeros = createReadStream(`${t.dir}/endless/zeros.bin`);
        res.on("close", () => {
            t.log(`response closed ${res.writableFinished} ${res.destroyed} ${res.writableEnded}`);
            zeros.destroy();
        });
        res.on("unpipe", () => t.log("unpiped"));
        zeros.pipe(res);
    }, SOME, "response closed"),
    left("writes left in the middle", (req, res, next, t) => {
        let count = 0;
        const more = () => {
            while (count < ENDLESS && res.write(Buffer.alloc(65_536, 1))) count += 1;
        };
        res.on("drain", more);
        res.on("close", () => t.log(`closed ${count < ENDLESS} ${res.writableFinished} ${res.errored === null}`));
        more();
    }, SOME, "closed"),
    left("the client leaves before the answer", (req, res, next, t) => {
        req.on("close", () => t.log(`request closed ${req.complete} ${req.aborted} ${req.destroyed}`));
        req.on("aborted", () => t.log("aborted"));
        res.on("close", () => {
            t.log(`response closed ${res.writableEnded} ${res.headersSent} ${res.destroyed}`);
            res.send("too late");
            t.log(`sent ${res.headersSent} ${res.writableEnded} ${res.writableFinished}`);
        });
        t.log("started");
    }, ASKED, "sent"),
    left("the client leaves, and json comes later", (req, res, next, t) => {
        res.on("error", (error) => t.log(told(error)));
        res.on("close", () => setImmediate(() => {
            t.log(`returned ${res.status(201).json({ a: 1 }) === res}`);
        }));
        t.log("started");
    }, ASKED, "returned"),
    left("the client leaves, and sendFile comes later", (req, res, next, t) => {
        res.on("close", () => res.sendFile(`${t.dir}/static/hello.txt`, outcome(t, "sendFile")));
        t.log("started");
    }, ASKED, "sendFile "),
    left("the client leaves, and sendFile without a callback comes later", (req, res, next, t) => {
        res.on("close", () => {
            res.sendFile(`${t.dir}/static/hello.txt`);
            settled(t, () => t.log("nothing more"));
        });
        t.log("started");
    }, ASKED, "nothing more"),
    left("the client leaves, and render comes later", (req, res, next, t) => {
        req.app.set("views", `${t.dir}/views`).engine("tmpl", (path, options, done) => done(null, "rendered"));
        res.on("close", () => {
            res.render("plain.tmpl");
            setImmediate(() => t.log(`over ${res.headersSent} ${res.writableEnded}`));
        });
        t.log("started");
    }, ASKED, "over"),
    left("the client leaves, and next comes later", (req, res, next, t) => {
        res.on("close", () => {
            next();
            setImmediate(() => t.log(`over ${res.headersSent} ${res.statusCode}`));
        });
        t.log("started");
    }, ASKED, "over"),
    left("the client leaves, and an error comes later", (req, res, next, t) => {
        res.on("close", () => next(new Error("late")));
        t.log("started");
    }, ASKED, "failed Error: late"),
    left("the client leaves, and redirect, cookie and headers come later", (req, res, next, t) => {
        res.on("close", () => {
            res.cookie("a", "1").set("X-A", "1").redirect("/to");
            t.log(`over ${res.statusCode} ${res.get("Location")}`);
        });
        t.log("started");
    }, ASKED, "over"),
    left("the client leaves after the head", (req, res, next, t) => {
        res.on("close", () => {
            t.log(`write gives ${res.write("more")}`);
            res.end(() => t.log("end's callback"));
            setImmediate(() => t.log(`over ${res.writableEnded} ${res.writableFinished} ${res.destroyed}`));
        });
        res.write("x".repeat(1500));
    }, SOME, "over"),
    left("the client leaves, and end with a callback comes later", (req, res, next, t) => {
        res.on("error", (error) => t.log(`event ${told(error)}`));
        res.on("close", () => {
            res.end("late", outcome(t, "end"));
            settled(t, () => t.log("nothing more"));
        });
        t.log("started");
    }, ASKED, "nothing more"),
    left("static, left in the middle", (req, res, next, t, express) => {
        res.on("close", () => t.log(`closed ${res.writableFinished}`));
        express.static(`${t.dir}/endless`)(Object.assign(req, { url: "/zeros.bin" }), res, (error) => t.log(error ? told(error) : "next"));
    }, SOME, "closed"),
    left("download, left in the middle, without a callback", (req, res, next, t) => {
        res.on("close", () => settled(t, () => t.log("nothing more")));
        res.download(`${t.dir}/endless/zeros.bin`);
    }, SOME, "nothing more"),
    {
        name: "an upload is cut while it is piped elsewhere",
        app(express, t) {
            const app = express();
            app.post("/", (req, _res) => {
                let length = 0;
                req.on("data", (chunk) => {
                    length += chunk.length;
                    if (length >= 100) t.log("reading");
                });
                req.on("error", (error) => t.log(`error ${told(error)}`));
                req.on("end", () => t.log("end"));
                req.on("close", () => t.log(`closed ${req.complete} ${req.readableAborted} ${req.errored?.code}`));
            });
            return app;
        },
        requests: [{ ...post("text/plain", "x".repeat(1000)), abortAfter: 300, wait: "reading" }],
        ends: "closed",
    },
    {
        name: "an upload is cut while async iteration reads it",
        app(express, t) {
            const app = express();
            app.post("/", async (req, res) => {
                try {
                    for await (const chunk of req) if (chunk.length > 0) t.log("reading");
                    t.log("whole");
                } catch (error) {
                    t.log(`failed ${told(error)}`);
                }
                res.end();
            });
            return app;
        },
        requests: [{ ...post("text/plain", "x".repeat(1000)), abortAfter: 300, wait: "reading" }],
        ends: "failed",
    },
    {
        name: "the next client is served after one that left",
        app(express, t) {
            const app = express();
            app.get("/slow", (req, res) => {
                res.on("close", () => t.log("left"));
                t.log("started");
            });
            app.get("/fast", (req, res) => res.send("served"));
            return app;
        },
        requests: [get("/slow", {}, ASKED), get("/fast", {}, { wait: "left" })],
    },
];
