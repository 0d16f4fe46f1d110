// What only Express 4's responses have, or have in their own way.
import { extname } from "node:path";
import { type Dialect } from "../dialect";
import { optionsAndCallback, settle, transfer } from "../files";
import { redirectBody } from "../redirect";
import { HTML_TYPE, sendBytes, sendJson, sendJsonp, sendPlain, withUtf8 } from "../send";
import { type Response } from "../types";

/** Methods of which Express 5 has another form, or none. */
export function moreResponseMethods(dialect: Dialect): object {
    const { libraries } = dialect;
    const { contentDisposition, depd, encodeUrl, escapeHtml, mime, send, statuses, vary } = libraries;
    const deprecate = (message: string): void => depd()("express")(message);

    function setType(this: Response, name: string): Response {
        return this.set("Content-Type", name.includes("/") ? name : mime().lookup(name));
    }

    /** The value of `(value, status)` or `(status, value)`, with the status set. */
    function valueOf(res: Response, name: string, args: unknown[], what: string): unknown {
        if (args.length !== 2) return args[0];
        const statusLast = what === "body" ? typeof args[0] !== "number" && typeof args[1] === "number" : typeof args[1] === "number";
        const order = statusLast ? `${what}, status` : `status, ${what}`;
        deprecate(`res.${name}(${order}): Use res.status(status).${name}(${what}) instead`);
        res.statusCode = args[statusLast ? 1 : 0] as number;
        return args[statusLast ? 0 : 1];
    }

    const methods: ThisType<Response> & object = {
        status(code: unknown): Response {
            const number = code as number;
            if ((typeof code === "string" || Math.floor(number) !== code) && number > 99 && number < 1000) {
                deprecate(`res.status(${JSON.stringify(code)}): use res.status(${Math.floor(number)}) instead`);
            }
            this.statusCode = number;
            return this;
        },

        send(...args: [unknown?, unknown?]): Response {
            let chunk = valueOf(this, "send", args, "body");
            if (typeof chunk === "string" && sendPlain(dialect, this, chunk, HTML_TYPE)) return this;
            let encoding: BufferEncoding | undefined;
            if (typeof chunk === "number" && args.length === 1) {
                if (!this.get("Content-Type")) this.type("txt");
                deprecate("res.send(status): Use res.sendStatus(status) instead");
                this.statusCode = chunk;
                chunk = statuses().message[chunk];
            }
            switch (typeof chunk) {
                case "string":
                    if (!this.get("Content-Type")) this.type("html");
                    break;
                case "boolean":
                case "number":
                case "object":
                    if (chunk === null) {
                        chunk = "";
                    } else if (Buffer.isBuffer(chunk)) {
                        if (!this.get("Content-Type")) this.type("bin");
                    } else {
                        return this.json(chunk);
                    }
                    break;
                default:
            }
            if (typeof chunk === "string") {
                encoding = "utf8";
                const given = this.get("Content-Type");
                if (typeof given === "string") this.set("Content-Type", withUtf8(dialect, given));
            }
            return sendBytes(dialect, this, chunk, encoding);
        },

        json(...args: [unknown?, unknown?]): Response {
            return sendJson(dialect, this, valueOf(this, "json", args, "obj"));
        },

        jsonp(...args: [unknown?, unknown?]): Response {
            return sendJsonp(this, valueOf(this, "jsonp", args, "obj"));
        },

        sendStatus(status: number): Response {
            const text = statuses().message[status] || String(status);
            this.statusCode = status;
            this.type("txt");
            return this.send(text);
        },

        links(links: Record<string, unknown>): Response {
            let link = (this.get("Link") as string | undefined) || "";
            if (link) link += ", ";
            return this.set("Link", link + Object.keys(links).map((rel) => `<${links[rel] as string}>; rel="${rel}"`).join(", "));
        },

        sendfile(path: string, options?: unknown, callback?: (error?: unknown) => void): void {
            deprecate("res.sendfile: Use res.sendFile instead");
            const { req } = this;
            const { next } = req;
            const { given, done } = optionsAndCallback(options, callback);
            transfer(dialect, this, send()(req, path, given), given, (error) => settle(error, done, next));
        },

        contentType: setType,
        type: setType,

        attachment(filename?: string): Response {
            if (filename) this.type(extname(filename));
            this.set("Content-Disposition", contentDisposition()(filename));
            return this;
        },

        clearCookie(name: string, options?: { maxAge?: unknown; expires?: unknown }): Response {
            for (const option of ["maxAge", "expires"] as const) {
                if (!options?.[option]) continue;
                deprecate(
                    `res.clearCookie: Passing "options.${option}" is deprecated. In v5.0.0 of Express, this option will be ignored, as res.clearCookie will automatically set cookies to expire immediately. Please update your code to omit this option.`,
                );
            }
            return this.cookie(name, "", { expires: new Date(1), path: "/", ...options });
        },

        location(url: unknown): Response {
            let target = String(url);
            if (url === "back") {
                deprecate('res.location("back"): use res.location(req.get("Referrer") || "/") and refer to https://dub.sh/security-redirect for best practices');
                target = (this.req.get("Referrer") as string | undefined) || "/";
            }
            return this.set("Location", encodeUrl()(target));
        },

        redirect(...args: [unknown, unknown?]): void {
            let address = args[0];
            let status: unknown = 302;
            if (args.length === 2) {
                if (typeof args[0] === "number") {
                    [status, address] = args;
                } else {
                    deprecate("res.redirect(url, status): Use res.redirect(status, url) instead");
                    status = args[1];
                }
            }
            const body = redirectBody(this, address, (html, target) => {
                const text = `${String(statuses().message[status as number])}. Redirecting to ${html ? escapeHtml()(target) : target}`;
                return html ? `<p>${text}</p>` : text;
            });
            this.statusCode = status as number;
            this.set("Content-Length", Buffer.byteLength(body));
            if (this.req.method === "HEAD") this.end();
            else this.end(body);
        },

        vary(field: unknown): Response {
            if (!field || (Array.isArray(field) && field.length === 0)) {
                deprecate("res.vary(): Provide a field name");
                return this;
            }
            vary()(this, field);
            return this;
        },
    };
    return methods;
}
