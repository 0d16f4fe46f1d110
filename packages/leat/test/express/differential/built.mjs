// Shapes that many cases share.

/** A case whose app is built by `build(app, t, express)`. */
export const built = (name, build, requests = ["/"], more = {}) => ({
    name,
    requests,
    ...more,
    async app(express, t) {
        const app = express();
        await build(app, t, express);
        return app;
    },
});

/** A case without requests: what `act(app, t, express)` logs. */
export const logged = (name, act, more = {}) => built(name, act, [], more);

/** A handler that answers with what `select(req, res)` returns, as JSON in which nothing is lost. */
export const showing = (select) => (req, res) => {
    res.setHeader("Content-Type", "application/json");
    res.end(JSON.stringify(select(req, res), plain, 1));
};

/** A case with one handler under all paths that answers with what `select(req, res)` returns. */
export const shows = (name, select, requests, more = {}) => built(name, (app) => {
    more.setup?.(app);
    app.use(showing(select));
}, requests, more);

/** What JSON drops, as text. */
function plain(key, value) {
    if (value === undefined) return "(undefined)";
    if (typeof value === "function") return `(function ${value.name})`;
    if (typeof value === "symbol" || typeof value === "bigint") return `(${typeof value} ${String(value)})`;
    if (value instanceof RegExp) return `(${String(value)})`;
    if (Number.isNaN(value)) return "(NaN)";
    if (value !== null && typeof value === "object" && Object.getPrototypeOf(value) === null) return { "(without a prototype)": { ...value } };
    return value;
}

/** Logs what `act` returns or throws. */
export function attempt(t, label, act) {
    let value;
    try {
        value = act();
    } catch (error) {
        t.log(label, "threw", error);
        return;
    }
    t.log(label, "->", typeof value === "function" ? `(function ${value.name})` : value === null || typeof value !== "object" || Array.isArray(value) ? value : `(${value.constructor?.name})`);
}

/** A middleware that logs `name` and goes on, to `to` if that is given. */
export const passing = (t, name, to) => (req, res, next) => {
    t.log(`${name} ${req.method} ${req.url} base=${req.baseUrl}`);
    next(to);
};

/** A handler that answers with `name` and what the router says of the request. */
export const ending = (name) => showing((req) => ({ name, url: req.url, originalUrl: req.originalUrl, baseUrl: req.baseUrl, path: req.path, params: req.params, route: req.route?.path }));

/** An error handler that logs the error, with what Express reads of it, and answers with its message. */
export const telling = (t, name = "error") => (error, req, res, next) => {
    t.log(name, error, JSON.stringify({ status: error?.status, statusCode: error?.statusCode, expose: error?.expose, url: req.url, baseUrl: req.baseUrl, params: req.params }));
    if (res.headersSent) return next(error);
    res.status(error?.status ?? 500).type("txt").send(String(error?.message ?? error));
};
