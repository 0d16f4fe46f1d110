// res.format, and what Accept makes of it.
import { answers, get, head, told } from "../shapes.mjs";

const ACCEPTS = [undefined, "text/html", "application/json", "text/plain", "*/*", "text/*", "image/png", "text/html;q=0.2, application/json;q=0.9", "text/plain;q=0", "application/*;q=0.5, text/plain;q=0.4", "", "nonsense", "text/html;level=1", "TEXT/HTML"];
const asked = (accept) => get("/", accept === undefined ? {} : { Accept: accept });
const formats = (name, table, requests = ACCEPTS.map(asked), more = {}) => answers(name, (req, res, next, t) => void res.format(table(req, res, t, next)), requests, more);

export default [
    formats("format by types", (req, res) => ({
        "text/plain": () => res.send("plain"),
        "text/html": () => res.send("<p>html</p>"),
        "application/json": () => res.send({ json: true }),
    })),
    formats("format by extensions", (req, res) => ({ text: () => res.send("plain"), html: () => res.send("<p>html</p>"), json: () => res.send({ json: true }) })),
    formats("format with a default", (req, res) => ({ html: () => res.send("html"), default: () => res.status(406).send("Not this") })),
    formats("format with a default alone", (req, res) => ({ default: () => res.send("default") })),
    formats("format of nothing", () => ({}), [asked(), asked("text/html")]),
    formats("format with an unknown extension", (req, res) => ({ nonsense: () => res.send("n"), html: () => res.send("h") })),
    formats("format with parameters in the type", (req, res) => ({ "text/html; level=1": () => res.send("one"), "text/html;charset=latin1;q=0.5": () => res.send("two"), "text/plain ; a = b": () => res.send("three") }), [asked(), asked("text/html"), asked("text/html;level=1"), asked("text/plain"), asked("text/plain;a=b")]),
    formats("format with a key of several slashes", (req, res) => ({ "a/b/c": () => res.send("abc") }), [asked(), asked("a/b/c"), asked("*/*")]),
    formats("arguments of the callbacks", (req, res, t, next) => ({
        html: (...args) => {
            t.log(`${args.length} ${args[0] === req} ${args[1] === res} ${typeof args[2]} ${args[2] === req.next} ${next === args[2]}`);
            res.send("x");
        },
    }), [asked("text/html")]),
    formats("this of the callbacks", (req, res, t) => ({
        mark: "the table",
        html() {
            t.log(String(this?.mark));
            res.send("x");
        },
        default() {
            t.log(`default ${this?.mark}`);
            res.send("y");
        },
    }), [asked("text/html"), asked("image/png")]),
    formats("a callback calls next", () => ({ html: (req, res, next) => next() }), [asked("text/html")]),
    formats("a callback calls next with an error", () => ({ html: (req, res, next) => next(Object.assign(new Error("mine"), { status: 418 })) }), [asked("text/html")]),
    formats("a callback throws", () => ({
        html: () => {
            throw new Error("from the callback");
        },
    }), [asked("text/html")]),
    formats("a callback is no function", () => ({ html: "text", json: undefined }), [asked("text/html"), asked("application/json")]),
    formats("a callback sets a type of its own", (req, res) => ({ html: () => res.type("text/x-mine").send("x") }), [asked("text/html")]),
    formats("a callback sends json under html", (req, res) => ({ html: () => res.json({ a: 1 }) }), [asked("text/html")]),
    formats("a rejected callback", () => ({ html: () => Promise.reject(new Error("late")) }), [asked("image/png")]),
    answers("format keeps a type set before", (req, res) => res.type("json").format({ html: () => res.send("x") }), [asked("text/html")]),
    answers("format adds to Vary", (req, res) => res.vary("Origin").format({ html: () => res.send("x") }), [asked("text/html")]),
    answers("format under Vary: *", (req, res) => res.set("Vary", "*").format({ html: () => res.send("x") }), [asked("text/html")]),
    answers("format returns the response", (req, res, next, t) => t.log(String(res.format({ html: () => res.send("x") }) === res)), [asked("text/html")]),
    answers("format of null", (req, res) => res.format(null)),
    answers("format of undefined", (req, res) => res.format()),
    answers("format of an array", (req, res) => res.format([() => res.send("x")]), [asked("text/html")]),
    answers("the 406 error", (req, res, next, t) => {
        req.next = (error) => {
            t.log(`own next ${told(error)}`);
            res.end("own");
        };
        res.format({ html: () => res.send("x"), "text/x; a=b": () => res.send("x"), nonsense: () => res.send("n") });
    }, [asked("image/png")]),
    answers("format in a mounted app uses the inner next", (req, res, next, t, express) => {
        const inner = express();
        inner.get("/", (innerReq, innerRes) => innerRes.format({ html: () => innerRes.send("x") }));
        inner.use((error, innerReq, innerRes, innerNext) => {
            t.log(`inner ${told(error)}`);
            innerNext(error);
        });
        inner(req, res, next);
    }, [asked("image/png")]),
    answers("format to HEAD", (req, res) => res.format({ html: () => res.send("x") }), [head("/", { Accept: "text/html" })]),
    {
        name: "406 by the default error handler",
        app(express) {
            const app = express();
            app.set("env", "production");
            app.use((req, res) => res.format({ html: () => res.send("x") }));
            return app;
        },
        requests: [asked("image/png")],
    },
];
