// The methods of an app, which are `express.application`. An app is a function that has them as its own properties.
import { resolve } from "node:path";
import { plainFields, ServerResponse, setPowered } from "../http/response";
import { createServer } from "../http/server";
import { type Dialect } from "./dialect";
import { answerUnanswered } from "./final";
import { debugOf } from "./libraries";
import { mount } from "./mount";
import { render } from "./render";
import { methods } from "./router/registration";
import { compilers, isEnabled } from "./settings";
import { wear } from "./wear";
import { type Application, type Next, type RenderCallback, type Request, type Response } from "./types";

const debug = debugOf("express:application");

/** Set on an app's settings while nobody has set `trust proxy`, so that it inherits the setting of its parent. */
const TRUST_DEFAULT = "@@symbol:trust_proxy_default";

type Methods = Record<string, unknown>;

const { getPrototypeOf: prototypeOf } = Object;

/** The methods of apps of `dialect`. */
export function applicationMethods(dialect: Dialect): Methods {
    const own = {
        init(this: Application): void {
            this.cache = dialect.newMap();
            this.engines = dialect.newMap();
            this.settings = dialect.newMap();
            this.defaultConfiguration();
        },

        defaultConfiguration(this: Application): void {
            const env = process.env["NODE_ENV"] || "development";
            this.enable("x-powered-by");
            this.set("etag", "weak");
            this.set("env", env);
            for (const name of Object.keys(dialect.defaults)) this.set(name, dialect.defaults[name]);
            this.set("subdomain offset", 2);
            this.set("trust proxy", false);
            setTrustDefault(this, true);
            debug("booting in %s mode", env);
            this.on("mount", function onmount(this: Application, parent: Application) {
                inherit(this, parent);
            });
            this.locals = Object.create(null) as Record<string, unknown>;
            this.mountpath = "/";
            this.locals["settings"] = this.settings;
            this.set("view", dialect.View);
            this.set("views", resolve("views"));
            this.set("jsonp callback name", "callback");
            if (env === "production") this.enable("view cache");
        },

        handle(this: Application, req: Request, res: Response, callback?: Next): void {
            // Express asks for it here; nobody can tell, but a method in the place of ours.
            const env = callback || this.get === dialect.ownApp.get ? undefined : this.get("env");
            const done = callback || ((error?: unknown) => answerUnanswered(dialect, this, req, res, env, error));
            if (isEnabled(dialect, this, "x-powered-by")) setPoweredBy(this, res);
            req.res = res;
            res.req = req;
            // Most were made for this app.
            if (req.app !== this || prototypeOf(req) !== this.request) wear(req, this.request);
            if (res.app !== this || prototypeOf(res) !== this.response) wear(res, this.response);
            if (!res.locals) res.locals = { __proto__: null };
            this.router.handle(req, res, done);
        },

        use(this: Application, fn: unknown, ...more: unknown[]): Application {
            let path: unknown = "/";
            let fns = [fn, ...more];
            if (typeof fn !== "function") {
                let first = fn;
                while (Array.isArray(first) && first.length !== 0) first = first[0] as unknown;
                if (typeof first !== "function") {
                    path = fn;
                    fns = more;
                }
            }
            fns = fns.flat(Infinity);
            if (fns.length === 0) throw new TypeError("app.use() requires a middleware function");
            const router = dialect.routerOf(this);
            for (const each of fns) {
                if (isApp(each)) mount(this, router, path, each);
                else router.use(path, each);
            }
            return this;
        },

        route(this: Application, path: unknown): unknown {
            return dialect.routerOf(this).route(path);
        },

        engine(this: Application, extension: string, fn: unknown): Application {
            if (typeof fn !== "function") throw new Error("callback function required");
            this.engines[extension[0] === "." ? extension : `.${extension}`] = fn;
            return this;
        },

        param(this: Application, name: string | string[], fn: unknown): Application {
            if (Array.isArray(name)) {
                for (const each of name) this.param(each, fn);
                return this;
            }
            dialect.routerOf(this).param(name, fn);
            return this;
        },

        // With one argument it reads the setting.
        set(this: Application, name: string, value: unknown): unknown {
            if (arguments.length === 1) return this.settings[name];
            debug('set "%s" to %o', name, value);
            this.settings[name] = value;
            const compiler = compilers[name];
            if (compiler !== undefined) {
                this.set(compiler.name, compiler.compile(value, dialect));
                if (name === "trust proxy") setTrustDefault(this, false);
            }
            return this;
        },

        path(this: Application): string {
            return this.parent ? this.parent.path() + (this.mountpath as string) : "";
        },

        enabled(this: Application, name: string): boolean {
            return Boolean(this.set(name));
        },

        disabled(this: Application, name: string): boolean {
            return !this.set(name);
        },

        enable(this: Application, name: string): unknown {
            return this.set(name, true);
        },

        disable(this: Application, name: string): unknown {
            return this.set(name, false);
        },

        all(this: Application, path: unknown, ...fns: unknown[]): Application {
            const route = this.route(path);
            for (const method of methods) route[method]?.(...fns);
            return this;
        },

        render(this: Application, name: string, options: unknown, done?: RenderCallback): void {
            render(dialect, this, name, options, done);
        },

        listen(this: Application, ...args: unknown[]): unknown {
            const server = createServer(this as never);
            const last = args.at(-1);
            if (dialect.listenTellsErrors && typeof last === "function") {
                const done = onceOnly(last as (...args: unknown[]) => unknown);
                args[args.length - 1] = done;
                server.once("error", done);
            }
            return (server.listen as (...args: unknown[]) => unknown).apply(server, args);
        },
    };
    const all: Methods = own;
    for (const method of methods) all[method] = method === "get" ? getOrRoute : registering(method);
    return all;
}

/** `app.get(setting)`, or `app.get(path, …)`. */
function getOrRoute(this: Application, path: string, ...fns: unknown[]): unknown {
    if (arguments.length === 1) return this.set(path);
    this.route(path)["get"]?.(...fns);
    return this;
}

function registering(method: string): unknown {
    return function (this: Application, path: unknown, ...fns: unknown[]): Application {
        this.route(path)[method]?.(...fns);
        return this;
    };
}

function isApp(value: unknown): value is Application {
    const app = value as Partial<Application> | null | undefined;
    return Boolean(app && app.handle && app.set);
}

/** Sets X-Powered-By. Express does so before the response has the prototype of `app`, which it may have had from the start. */
export function setPoweredBy(app: Application, res: Response): void {
    if (setPowered !== undefined && setPowered(res)) return;
    const fields = plainFields(res);
    if (fields !== undefined) {
        fields["x-powered-by"] = ["X-Powered-By", "Express"];
        return;
    }
    const early = Object.getPrototypeOf(res) === app.response && !Object.hasOwn(res, "setHeader");
    if (early) ServerResponse.prototype.setHeader.call(res, "X-Powered-By", "Express");
    else res.setHeader("X-Powered-By", "Express");
}

/** The mounted app inherits what its parent has. */
function inherit(app: Application, parent: Application): void {
    const settings = app.settings as Record<string, unknown>;
    if (settings[TRUST_DEFAULT] === true && typeof parent.settings["trust proxy fn"] === "function") {
        delete settings["trust proxy"];
        delete settings["trust proxy fn"];
    }
    Object.setPrototypeOf(app.request, parent.request);
    Object.setPrototypeOf(app.response, parent.response);
    Object.setPrototypeOf(app.engines, parent.engines);
    Object.setPrototypeOf(app.settings, parent.settings);
}

function setTrustDefault(app: Application, value: boolean): void {
    Object.defineProperty(app.settings, TRUST_DEFAULT, { configurable: true, value });
}

function onceOnly(fn: (...args: unknown[]) => unknown): (...args: unknown[]) => unknown {
    let called = false;
    let result: unknown;
    return function (this: unknown, ...args: unknown[]) {
        if (called) return result;
        called = true;
        return (result = fn.apply(this, args));
    };
}
