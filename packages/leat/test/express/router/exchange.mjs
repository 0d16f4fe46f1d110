// One request sent through a router, and all that a program can see of it, as text.
import { within } from "../../within.mjs";

/** A reply with what routers use: node:http's for Express 5, `set` and `send` for Express 4. */
class Reply {
    constructor(log, done) {
        this.headers = {};
        this.log = log;
        this.done = done;
    }
    setHeader(name, value) {
        this.headers[name] = value;
    }
    set(name, value) {
        this.headers[name] = value;
    }
    end(body) {
        this.log(`end ${JSON.stringify(this.headers)} ${body ?? ""}`);
        this.done();
    }
    send(body) {
        this.end(body);
    }
}

/** Sends `request` through `router`. Gives the lines that were logged until it ended, or fell out of the router. */
export async function exchange(router, request, lines) {
    const { method = "GET", url = "/", ...more } = request;
    const log = (...what) => void lines.push(what.map((one) => (typeof one === "string" ? one : show(one))).join(" "));
    const req = { method, url, ...more };
    let ended;
    const end = new Promise((resolve) => (ended = resolve));
    const res = new Reply(log, ended);
    req.log = log;
    let sync = true;
    const out = (...args) => {
        log(`out${sync ? " at once" : ""}`, ...args.map(show), state(req));
        ended();
    };
    try {
        router(req, res, out);
    } catch (error) {
        log("threw", show(error));
        ended();
    }
    sync = false;
    await within(end, `the end of ${method} ${url}`);
    // What comes later than the end counts as well.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    return lines;
}

/** What a router sets on a request. */
export function state(req) {
    const { method, url, originalUrl, baseUrl, params, route } = req;
    return `${method} ${url} original=${originalUrl} base=${baseUrl} params=${show(params)} route=${show(route?.path)} next=${typeof req.next} keys=${Object.keys(req).filter((key) => key !== "log")}`;
}

export function show(value) {
    if (value instanceof Error) return `${value.name}: ${value.message} ${JSON.stringify({ ...value })}`;
    if (typeof value === "function") return `function ${value.name}/${value.length}`;
    if (typeof value === "symbol" || typeof value === "bigint") return String(value);
    if (value instanceof RegExp) return String(value);
    if (Array.isArray(value)) return `[${value.map(show).join(", ")}]`;
    if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "undefined";
    const kind = Object.getPrototypeOf(value) === null ? "null" : "";
    return `${kind}{${Object.keys(value).map((key) => `${key}: ${show(value[key])}`).join(", ")}}`;
}
