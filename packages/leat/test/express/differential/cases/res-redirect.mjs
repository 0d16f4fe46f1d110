// res.redirect: status, body by Accept, and odd addresses.
import { answers, get, head, told } from "../shapes.mjs";

const HTML = { Accept: "text/html" };
const TEXT = { Accept: "text/plain" };
const redirect = (name, args, requests = [get("/", HTML)], more = {}) => answers(`redirect ${name}`, (req, res) => void res.redirect(...args), requests, more);

export default [
    redirect("by every Accept", ["/to"], [get(), get("/", HTML), get("/", TEXT), get("/", { Accept: "application/json" }), get("/", { Accept: "*/*" }), get("/", { Accept: "text/*" }), get("/", { Accept: "text/plain;q=0.1, text/html" }), get("/", { Accept: "" })]),
    redirect("to HEAD", ["/to"], [head("/", HTML), head("/", { Accept: "image/png" })]),
    ...[301, 302, 303, 307, 308, 300, 200, 404, 299, 799].map((status) => redirect(`with ${status}`, [status, "/to"], [get("/", HTML), get("/", TEXT)])),
    ...["../login", "http://example.com/?a=b&c=<d>", "/é☃", "/%20 %zz", "//evil.example", "back", "javascript:alert('x')", '/"><script>', "/a\r\nSet-Cookie: x=1", "?only=query", "#hash", "/\ud800"].map((url) => redirect(`to ${JSON.stringify(url)}`, [url], [get("/", HTML), get("/", TEXT)])),
    redirect("back with a Referer", ["back"], [get("/", { ...HTML, Referer: "http://from/page" })]),
    redirect("(url, status)", ["/to", 301]),
    redirect("with a status as text", ["301", "/to"]),
    redirect("with an unusable status", [99, "/to"]),
    redirect("with a status of 1000", [1000, "/to"]),
    redirect("with a broken status", [301.5, "/to"]),
    redirect("with null status", [null, "/to"]),
    redirect("to nothing", []),
    redirect("to undefined", [undefined]),
    redirect("to null", [null]),
    redirect("to an empty text", [""]),
    redirect("to a number", [5]),
    redirect("to a URL object", [new URL("http://a/b?c=d")]),
    redirect("to an object", [{}]),
    redirect("with (status, undefined)", [301, undefined]),
    redirect("with three arguments", [301, "/to", "more"]),
    answers("redirect keeps headers and sets Vary", (req, res) => res.set("X-A", "1").vary("Origin").redirect("/to"), [get("/", HTML)]),
    answers("redirect under a type set before", (req, res) => res.type("json").redirect("/to"), [get("/", { Accept: "image/png" }), get("/", HTML)]),
    answers("redirect returns nothing", (req, res, next, t) => t.log(String(res.redirect("/to"))), [get("/", HTML)]),
    answers("redirect calls replaced methods", (req, res, next, t) => {
        for (const name of ["location", "format", "status", "set", "end", "vary"]) {
            const own = res[name];
            res[name] = function (...args) {
                t.log(`${name} ${args.map((arg) => (typeof arg === "object" ? Object.keys(arg).join() : String(arg))).join(" ")}`);
                return own.apply(this, args);
            };
        }
        res.redirect(301, "/to");
    }, [get("/", HTML)]),
    answers("redirect after the head was sent", (req, res, next, t) => {
        res.write("a");
        try {
            res.redirect("/to");
        } catch (error) {
            t.log(told(error));
        }
        res.end();
    }, [get("/", HTML)]),
    answers("redirect twice", (req, res, next, t) => {
        res.redirect("/one");
        try {
            res.redirect("/two");
        } catch (error) {
            t.log(told(error));
        }
    }, [get("/", HTML)]),
    answers("redirect in a mounted app stays as given", (req, res, next, t, express) => {
        const inner = express();
        inner.get("/a", (innerReq, innerRes) => innerRes.redirect("b"));
        const outer = express.Router();
        outer.use("/in", inner);
        outer(req, res, next);
    }, [get("/in/a", HTML)]),
    answers("redirect with no ETag and its own Content-Length", (req, res) => res.set("Content-Length", "999").redirect("/to"), [get("/", { ...HTML, "If-None-Match": "*" })]),
];
