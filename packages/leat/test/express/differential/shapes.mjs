// Shapes that many cases share: the app around one handler, and requests in one line.

/** `GET path`, as it stands in a case's `requests`. */
export const get = (path = "/", headers = {}, more = {}) => ({ method: "GET", path, headers, ...more });
export const head = (path = "/", headers = {}, more = {}) => ({ method: "HEAD", path, headers, ...more });

/** `POST /` with a body of a type; `headers` may say more or otherwise. */
export const post = (type, body, headers = {}, more = {}) => ({ method: "POST", path: "/", headers: { ...(type === undefined ? {} : { "Content-Type": type }), ...headers }, body, ...more });

/** What a program can see of an error, in one line; not `received`, which depends on how a body was cut on its way. */
export function told(error) {
    if (!(error instanceof Error)) return `not an Error: ${String(error)}`;
    const own = ["status", "statusCode", "code", "type", "expose", "limit", "length", "expected", "charset", "encoding", "syscall", "headers", "types"];
    const facts = own.filter((name) => error[name] !== undefined).map((name) => `${name}=${JSON.stringify(error[name])}`);
    return [`${error.name}: ${error.message}`, ...facts].join(" ");
}

/** An error middleware that logs all of the error and answers with its message. */
export const tells = (t) => (error, req, res, _next) => {
    t.log(`failed ${told(error)}`);
    if (res.headersSent) {
        res.destroy();
        return;
    }
    res.statusCode = error.status ?? 500;
    res.setHeader("Content-Type", "text/plain");
    res.end(`failed: ${error.message}`);
};

/** A case whose app has one handler, `handler(req, res, next, t, express)`, under every path and method, and `tells` behind it. */
export const answers = (name, handler, requests = [get()], more = {}) => ({
    name,
    app(express, t) {
        const app = express();
        const { settings = {} } = more;
        for (const [setting, value] of Object.entries(settings)) app.set(setting, value);
        app.use((req, res, next) => handler(req, res, next, t, express));
        app.use((req, res) => {
            t.log("fell through");
            res.statusCode = 404;
            res.end("fell through");
        });
        app.use(tells(t));
        return app;
    },
    requests,
    ...(more.only === undefined ? {} : { only: more.only }),
    ...(more.harness ?? {}),
});

/** A value as text that tells apart what JSON does not. */
export function shown(value) {
    if (value === undefined) return "undefined";
    if (Buffer.isBuffer(value)) return `Buffer ${value.toString("hex")}`;
    if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === null) return `bare ${JSON.stringify(value)}`;
    return `${typeof value} ${JSON.stringify(value)}`;
}
