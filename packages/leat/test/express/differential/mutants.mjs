// Versions of real Express with one fault each. The table must tell every one of them from the original.

/** Replaces the method `name` of one of Express' prototypes; `change(before, ...args)` is called with the object as `this`. */
const method = (on, name, change) => (express) => {
    const before = express[on][name];
    express[on][name] = function mutated(...args) {
        return change.call(this, (...rest) => before.apply(this, rest), ...args);
    };
};

const getter = (name, change) => (express) => {
    const { get } = Object.getOwnPropertyDescriptor(express.request, name);
    Object.defineProperty(express.request, name, { configurable: true, enumerable: true, get() {
        return change.call(this, get.call(this));
    } });
};

/** Every app starts with `settings`. */
const starting = (settings) => method("application", "defaultConfiguration", function start(before) {
    before();
    for (const [name, value] of Object.entries(settings)) this.set(name, value);
});

/** The class of layers, which Express keeps to itself. */
function layerOf(express) {
    const router = express.Router();
    router.use(() => {});
    return router.stack[0].constructor.prototype;
}

/** Name of the mutant → the case that must tell it, whose version of Express is changed. */
export const mutants = {
    "no X-Powered-By": { told: "5 settings: x-powered-by on a 404", change: starting({ "x-powered-by": false }) },
    "strong ETags": { told: "4 res-send: send a string", change: starting({ etag: "strong" }) },
    "case sensitive routing": { told: "5 settings: case sensitive routing set after the first route", change: starting({ "case sensitive routing": true }) },
    "strict routing": { told: "4 settings: strict routing set after the first route", change: starting({ "strict routing": true }) },
    "another parser of queries": { told: "5 request: query: as it comes", change: starting({ "query parser": "extended" }) },
    "production always": { told: "4 settings: the defaults", change: starting({ env: "production" }) },
    "errors that are not printed": { told: "5 errors: an error after the head was sent", change: starting({ env: "test" }) },
    "one hop more": { told: "4 request-proxy: trust proxy: 1 hop", change: method("application", "set", (before, name, ...value) => before(name, ...(name === "trust proxy" && typeof value[0] === "number" ? [value[0] + 1] : value))) },
    "another message": {
        told: "5 router-order: what use refuses",
        change: method("application", "use", (before, ...args) => {
            try {
                return before(...args);
            } catch (error) {
                error.message += ".";
                throw error;
            }
        }),
    },
    "another class of error": {
        told: "4 router-order: what use refuses",
        change: method("application", "use", (before, ...args) => {
            try {
                return before(...args);
            } catch (error) {
                throw new Error(error.message, { cause: error });
            }
        }),
    },
    "no 'mount'": {
        told: "5 mounting: mount without a path",
        change: method("application", "init", function init(before) {
            before();
            const { emit } = this;
            this.emit = (name, ...args) => name !== "mount" && emit.call(this, name, ...args);
        }),
    },
    "no HEAD for GET": {
        told: "5 router-methods: HEAD is served by GET",
        change: ({ Route }) => {
            const { dispatch } = Route.prototype;
            Route.prototype.dispatch = function mutated(req, res, done) {
                return req.method === "HEAD" && !this.methods.head ? done() : dispatch.call(this, req, res, done);
            };
        },
    },
    "no Allow": { told: "4 router-methods: OPTIONS tells what a path has", change: ({ Route }) => void (Route.prototype._options = () => []) },
    "params that are not decoded": {
        told: "5 router-params: params of one route",
        change: (express) => {
            const layer = layerOf(express);
            const { match } = layer;
            layer.match = function mutated(path) {
                const matched = match.call(this, path);
                for (const name of Object.keys(matched.params ?? {})) matched.params[name] = encodeURIComponent(matched.params[name]);
                return matched;
            };
        },
    },
    "params of a parent that stay": {
        told: "4 router-params: mergeParams undefined",
        change: (express) => {
            const { Router } = express;
            express.Router = (options) => Router({ ...options, mergeParams: true });
        },
    },
    "every middleware twice": {
        told: "5 router-order: layers run in the order they were given",
        change: (express) => {
            const { use } = express.application;
            express.application.use = function twice(...args) {
                use.apply(this, args);
                return typeof args.at(-1) === "function" && args.at(-1).length === 3 ? use.call(this, ...args) : this;
            };
        },
    },
    "rejections that nobody hears of": {
        told: "5 errors: an async handler that throws",
        change: (express) => {
            const layer = layerOf(express);
            layer.handleRequest = function handle(req, res, next) {
                if (this.handle.length > 3) return next();
                try {
                    Promise.resolve(this.handle(req, res, next)).catch(() => next());
                } catch (error) {
                    next(error);
                }
            };
        },
    },
    "a reply that is never fresh": { told: "4 request: send answers 304 where it is fresh", change: getter("fresh", () => false) },
    "no preference among types": { told: "5 request: accepts of a list of types", change: method("request", "accepts", (before, ...types) => types.flat()[0] ?? before()) },
    "ips the wrong way round": { told: "4 request-proxy: trust proxy: true", change: getter("ips", (ips) => ips.reverse()) },
    "a path with its query": { told: "5 request: path", change: getter("path", function path() {
        return this.url;
    }) },
    "a deprecation that is not told": { told: "4 request-proxy: trust proxy: left as it is", change: getter("host", function host() {
        return this.hostname;
    }) },
    "names of fields in lower case": { told: "5 res-headers: type(\"woff2\")", change: method("response", "set", (before, name, ...value) => before(typeof name === "string" ? name.toLowerCase() : name, ...value)) },
    "a byte more": { told: "4 res-send: send a string", change: method("response", "send", (before, body, ...rest) => before(typeof body === "string" ? `${body}\n` : body, ...rest)) },
    "no close of the reply": {
        told: "5 wire: events of a request and its reply",
        change: (express) => {
            const { emit } = Object.getPrototypeOf(express.response);
            express.response.emit = function mutated(name, ...args) {
                return name !== "close" && emit.call(this, name, ...args);
            };
        },
    },
    "a reply that is cut": { told: "4 wire: three requests on one connection", change: method("response", "send", function send(before, body) {
        before(body);
        this.socket?.destroySoon();
        return this;
    }) },
    "a permanent redirect": { told: "5 res-redirect: redirect to HEAD", change: method("response", "redirect", (before, ...args) => before(...(args.length === 1 ? [301, args[0]] : args))) },
    "cookies without a path": { told: "4 res-cookie: cookie with its own encode", change: method("response", "cookie", (before, name, value, options) => before(name, value, { path: "/other", ...options })) },
};
