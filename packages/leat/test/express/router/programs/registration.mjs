// What routers are made of, and what they refuse.
import { show } from "../exchange.mjs";
import { answer, pass } from "./handlers.mjs";

/** Logs what each call gives or throws. */
function attempts(calls) {
    return (tools) => {
        for (const call of calls) {
            try {
                const result = call(tools);
                tools.log(String(call).slice(0, 60), result === undefined ? "undefined" : result?.stack !== undefined && typeof result === "function" ? "a router" : show(result));
            } catch (error) {
                tools.log(String(call).slice(0, 60), error);
            }
        }
        return tools.router().use(answer("end"));
    };
}

const described = (object) => Object.getOwnPropertyNames(object).map((name) => `${name}:${typeof object[name]}`);

export const registration = [
    {
        name: "what use, route and methods refuse",
        make: attempts([
            ({ router }) => router().use(),
            ({ router }) => router().use("/a"),
            ({ router }) => router().use("/a", []),
            ({ router }) => router().use([]),
            ({ router }) => router().use([[]]),
            ({ router }) => router().use("/a", null),
            ({ router }) => router().use("/a", "b"),
            ({ router }) => router().use("/a", {}),
            ({ router }) => router().use("/a", new Date(0)),
            ({ router }) => router().use("/a", [5]),
            ({ router }) => router().use(null, () => {}),
            ({ router }) => router().get(),
            ({ router }) => router().get("/a"),
            ({ router }) => router().get("/a", null),
            ({ router }) => router().get("/a", "b"),
            ({ router }) => router().get("/a", [() => {}, [5]]),
            ({ router }) => router().all("/a"),
            ({ router }) => router().all("/a", {}),
            ({ router }) => router().get(() => {}),
            ({ router }) => router().route("/a").all(),
            ({ router }) => router().route("/a").get([]),
            ({ router }) => router().route().path,
        ]),
        requests: ["/"],
    },
    {
        name: "what param refuses",
        make: attempts([
            ({ router, version }) => version === 5 && router().param(),
            ({ router, version }) => version === 5 && router().param(5, () => {}),
            ({ router, version }) => version === 5 && router().param(() => {}),
            ({ router }) => router().param("a"),
            ({ router }) => router().param("a", null),
            ({ router }) => router().param("a", "b"),
            ({ router }) => router().param("a", () => {}).params.a.length,
        ]),
        requests: ["/"],
    },
    {
        name: "handlers in arrays of arrays",
        make: ({ router }) => router().use([pass("1"), [pass("2"), [pass("3")]]], pass("4")).get("/a", [pass("5"), [pass("6")]], pass("7")).use("/a", [[pass("8")]], [answer("9")]),
        requests: ["/a", "/b"],
    },
    {
        name: "the shape of routers",
        make: ({ Router, log, version }) => {
            const made = new Router({ strict: 1, caseSensitive: "yes", mergeParams: null });
            log(described(made), made.name, made.length, made.strict, made.caseSensitive, made.mergeParams, typeof made.stack, Array.isArray(made.stack));
            log(Router.name, Router.length, described(version === 4 ? Router : Router.prototype).sort());
            log(["use", "route", "param", "handle"].map((name) => `${made[name].name}/${made[name].length}`));
            log(Object.keys(Router).sort(), made.call === Function.prototype.call, made instanceof Function, version === 5 && made instanceof Router);
            log(version === 5 && Router(), version === 5 && class extends Router {}.prototype instanceof Router);
            return made.get("/a", answer("a"));
        },
        requests: ["/a"],
    },
    {
        name: "the shape of layers and routes",
        make: ({ router, log, Layer, Route, version }) => {
            const one = router().use(pass("anonymous")).use(["/a", ["/b"]], function named() {}).get("/c/:d", pass("c"));
            one.route("/e").all(pass("all")).get(function get() {});
            for (const layer of one.stack) {
                log(layer.constructor.name, layer instanceof Layer, Object.keys(layer), layer.name, layer.handle.length, layer.rawPath, layer.slash, layer.regexp, layer.keys, layer.matchers);
                log(layer.match("/c/x"), layer.match("/a"), layer.match("/"), layer.match(null), layer.match(undefined), layer.params, layer.path);
                if (layer.route) log(layer.route.constructor.name, layer.route instanceof Route, layer.route.path, layer.route.methods, layer.route.stack.map((inner) => [Object.keys(inner), inner.method, inner.name, inner.rawPath, inner.regexp]));
                if (version === 5) for (const matcher of layer.matchers) log(matcher("/c/x"), matcher("/a"), matcher("/"));
            }
            log(described(Layer.prototype).sort(), described(Route.prototype).sort());
            const route = new Route("/x");
            log(route, Object.getPrototypeOf(route.methods) === null);
            if (version === 5) log(route._handlesMethod("GET"), route._methods(), route.get(() => {})._methods(), route.all(() => {})._methods(true), route._handlesMethod("PUT"));
            else log(route._handles_method("GET"), route._options(), route.get(() => {})._options(), route.all(() => {})._options(), route._handles_method("PUT"));
            log(Layer("/", {}, () => {}) instanceof Layer, new Layer("/x/:y", undefined, () => {}).match("/x/1"));
            return one;
        },
        requests: ["/c/x"],
    },
    {
        name: "listRoutes",
        only: 5,
        make: ({ router, log }) => {
            const inner = router().get("/x", pass("x"));
            const one = router().use(pass("no")).use("/in", inner).use(["/p", "/q"], inner).get("/a", pass("a")).all("/b", pass("b")).post(["/c", /d/], pass("c"));
            one.route("/e");
            one.route("/f").head(pass("f")).get(pass("f")).all(pass("f"));
            log(one.listRoutes().map(({ path, methods, router: mounted }) => [path, methods, mounted === inner]));
            return one.use(answer("end"));
        },
        requests: ["/"],
    },
    {
        name: "a route run by hand",
        make: ({ Route }) => {
            const route = new Route("/a").get(pass("1"), answer("2"));
            const empty = new Route("/b");
            return (req, res, out) => (req.url === "/a" ? route.dispatch(req, res, out) : empty.dispatch(req, res, out));
        },
        requests: ["/a", "POST /a", "/b"],
    },
];
