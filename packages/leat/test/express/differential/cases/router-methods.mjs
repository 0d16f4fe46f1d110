// Methods: every one that Node knows, HEAD for GET, OPTIONS by itself, all() and route().
import { METHODS } from "node:http";
import { attempt, built, ending, logged, passing } from "../built.mjs";

const SENT = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const to = (path, methods = SENT) => methods.map((method) => ({ method, path }));

export default [
    logged("every method of Node is on apps, routers and routes", (app, t, express) => {
        const names = METHODS.map((name) => name.toLowerCase()).filter((name) => name !== "query");
        const router = express.Router();
        const route = app.route("/a");
        for (const [what, on] of Object.entries({ app, router, route })) t.log(what, names.filter((name) => typeof on[name] !== "function").join(", "), typeof on.all, typeof on.del);
        attempt(t, "del", () => app.del("/a", () => {}) === app);
    }),
    built("a handler for each of many methods", (app) => {
        for (const name of ["get", "post", "put", "patch", "delete", "options", "m-search", "copy", "propfind", "purge", "trace"]) app[name]("/", ending(name));
    }, [...to("/"), ...to("/", ["M-SEARCH", "COPY", "PROPFIND", "PURGE", "TRACE", "LOCK"])]),
    built("HEAD is served by GET", (app, t) => {
        app.get("/", passing(t, "get"), (req, res) => res.send("a body"));
    }, to("/")),
    built("HEAD by its own handler in front", (app) => {
        app.head("/", (req, res) => res.set("X-Head", "own").end());
        app.get("/", (req, res) => res.send("a body"));
    }, to("/", ["GET", "HEAD"])),
    built("HEAD by its own handler behind", (app) => {
        app.get("/", (req, res) => res.send("a body"));
        app.head("/", (req, res) => res.set("X-Head", "own").end());
    }, to("/", ["GET", "HEAD"])),
    built("HEAD within one route", (app, t) => {
        app.route("/").get(passing(t, "get")).head(passing(t, "head")).all((req, res) => res.send(req.method));
    }, to("/", ["GET", "HEAD", "POST"])),
    built("all takes every method", (app) => app.all("/", ending("all")), [...to("/"), ...to("/", ["LOCK", "M-SEARCH"])]),
    built("all and get in order", (app, t) => {
        app.route("/").all(passing(t, "first")).get(passing(t, "get")).all(passing(t, "second")).post(passing(t, "post")).all(ending("last"));
    }, to("/", ["GET", "POST", "PUT", "HEAD"])),
    built("OPTIONS tells what a path has", (app) => {
        app.get("/a", ending("get"));
        app.post("/a", ending("post"));
        app.put("/:other", ending("put"));
        app.all("/all", ending("all"));
        app.use("/a", (req, res, next) => next());
    }, to("/", ["OPTIONS"]).concat(to("/a", ["OPTIONS"]), to("/all", ["OPTIONS"]), to("/none/none", ["OPTIONS"]))),
    built("OPTIONS with several handlers of one method", (app) => {
        app.get("/a", ending("one"));
        app.get("/a", ending("two"));
        app.delete("/a", ending("three"));
    }, to("/a", ["OPTIONS"])),
    built("OPTIONS through routers", (app, t, express) => {
        const [outer, inner] = [express.Router(), express.Router()];
        inner.get("/x", ending("get"));
        outer.post("/in/x", ending("post"));
        outer.use("/in", inner);
        outer.put("/in/x", ending("put"));
        app.use("/out", outer);
        app.delete("/out/in/x", ending("delete"));
    }, to("/out/in/x", ["OPTIONS", "PATCH"])),
    built("OPTIONS of a mounted app", (app, t, express) => {
        const sub = express();
        sub.get("/x", ending("get"));
        app.use("/sub", sub);
        app.post("/sub/x", ending("post"));
    }, to("/sub/x", ["OPTIONS"])),
    built("OPTIONS answered by a handler", (app) => {
        app.options("/a", (req, res) => res.set("Allow", "MINE").end());
        app.get("/a", ending("get"));
    }, to("/a", ["OPTIONS"])),
    built("OPTIONS that a handler passes on", (app, t) => {
        app.options("/a", passing(t, "options"));
        app.get("/a", ending("get"));
    }, to("/a", ["OPTIONS"])),
    built("OPTIONS that nobody has, with middleware in front", (app, t) => {
        app.use(passing(t, "middleware"));
        app.use("/a", passing(t, "at a"));
        app.get("/a", ending("get"));
    }, to("/a", ["OPTIONS"])),
    built("OPTIONS where the reply has begun", (app) => {
        app.get("/a", ending("get"));
        app.use((req, res, next) => {
            res.write("begun");
            res.end();
            next();
        });
    }, to("/a", ["OPTIONS"])),
    built("OPTIONS where an error comes", (app) => {
        app.get("/a", ending("get"));
        app.use((req, res, next) => next(new Error("no")));
        app.use((error, req, res, _next) => res.status(500).send(error.message));
    }, to("/a", ["OPTIONS"])),
    built("OPTIONS of everything", (app) => {
        app.get("/a", ending("get"));
        app.get("/", ending("get"));
    }, to("*", ["OPTIONS"])),
    built("OPTIONS of everything reaches use", (app, t) => {
        app.use(passing(t, "use"));
        app.use("/", passing(t, "use of slash"));
    }, to("*", ["OPTIONS"])),
    built("a method that no route has", (app) => {
        app.get("/a", ending("get"));
    }, to("/a", ["POST", "DELETE", "PUT"])),
    built("middleware under a method override", (app, t) => {
        app.use((req, res, next) => {
            req.method = req.get("x-method") ?? req.method;
            next();
        });
        app.delete("/a", passing(t, "delete"), ending("deleted"));
        app.get("/a", ending("got"));
    }, [{ method: "POST", path: "/a", headers: { "X-Method": "DELETE" } }, { method: "POST", path: "/a", headers: { "X-Method": "HEAD" } }, { method: "POST", path: "/a", headers: { "X-Method": "delete" } }]),
    built("the method changed within a route", (app, t) => {
        app.route("/a").post((req, res, next) => {
            req.method = "GET";
            next();
        }).get(ending("get in the same route"));
        app.get("/a", passing(t, "get behind"), ending("got"));
    }, ["POST /a"]),
    built("a method that is not Node's, set by a middleware", (app) => {
        app.use((req, res, next) => {
            req.method = "BREW";
            next();
        });
        app.all("/", ending("all"));
        app.get("/", ending("get"));
    }),
    built("a route without handlers", (app, t) => {
        app.route("/a");
        app.route("/a").get();
        app.use(passing(t, "behind"));
    }, ["/a"], { throws: true }),
    built("req.route", (app, t) => {
        app.use((req, res, next) => {
            t.log("before", req.route);
            next();
        });
        app.get("/a/:id", (req, res, next) => {
            t.log(req.route.path, req.route.stack.length, JSON.stringify(req.route.methods));
            next();
        });
        app.all(["/a/x", "/a/y"], (req, res, next) => {
            t.log(String(req.route.path), JSON.stringify(req.route.methods));
            next();
        });
        app.use((req, res) => {
            t.log("behind", req.route.path);
            res.end();
        });
    }, ["/a/x"]),
    logged("express.Route by hand", async (app, t, express) => {
        const route = new express.Route("/mine");
        route.all((req, res, next) => (t.log("all"), next())).get((req, res, next) => (t.log("get"), next()));
        t.log(route.path, route.stack.length, JSON.stringify(route.methods));
        for (const method of ["GET", "HEAD", "POST"]) await new Promise((resolve) => void route.dispatch({ method, url: "/" }, {}, (error) => (t.log("done", method, error), resolve())));
    }),
];
