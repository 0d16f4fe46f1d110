// What only Express 4's responses have, or have in their own way.
import { extname } from "node:path";
import { type Dialect } from "../dialect";
import { optionsAndCallback, settle, transfer } from "../files";
import { deprecationsOf } from "../libraries";
import { redirectBody } from "../redirect";
import { BYTES_TYPE, HTML_TYPE, sendBytes, sendJson, sendJsonp, sendPlain, withUtf8 } from "../send";
import { type Response } from "../types";

const ignored = (option: string): string =>
    `res.clearCookie: Passing "options.${option}" is deprecated. In v5.0.0 of Express, this option will be ignored, as res.clearCookie will automatically set cookies to expire immediately. Please update your code to omit this option.`;

/** Methods of which Express 5 has another form, or none. */
export function moreResponseMethods(dialect: Dialect): object {
    const { libraries } = dialect;
    const { contentDisposition, depd, encodeUrl, escapeHtml, mime, send, statuses, vary } = libraries;
    const deprecations = deprecationsOf(() => depd()("express"));

    function contentType(this: Response, type: string): Response {
        // `indexOf`, since the engine's message for a wrong `type` names the method.
        return this.set("Content-Type", type.indexOf("/") === -1 ? mime().lookup(type) : type);
    }

    /** The value of `(value, status)` or `(status, value)`, with the status set. */
    function valueOf(res: Response, name: string, args: [unknown, unknown], what: string): unknown {
        const statusLast = typeof args[1] === "number" && (what !== "body" || typeof args[0] !== "number");
        // Each message is told once for a line of the program and a place here, so those of one line need places of their own.
        if (statusLast) deprecations()(`res.${name}(${what}, status): Use res.status(status).${name}(${what}) instead`);
        else deprecations()(`res.${name}(status, ${what}): Use res.status(status).${name}(${what}) instead`);
        res.statusCode = args[statusLast ? 1 : 0] as number;
        return args[statusLast ? 0 : 1];
    }

    const methods: ThisType<Response> & object = {
        status(code: unknown): Response {
            const number = code as number;
            if ((typeof code === "string" || Math.floor(number) !== code) && number > 99 && number < 1000) {
                deprecations()(`res.status(${JSON.stringify(code)}): use res.status(${Math.floor(number)}) instead`);
            }
            this.statusCode = number;
            return this;
        },

        send(body: unknown, ...more: unknown[]): Response {
            let chunk = more.length === 1 ? valueOf(this, "send", [body, more[0]], "body") : body;
            if (typeof chunk === "string" ? sendPlain(dialect, this, chunk, HTML_TYPE) : Buffer.isBuffer(chunk) && sendPlain(dialect, this, chunk, BYTES_TYPE)) return this;
            let encoding: BufferEncoding | undefined;
            if (typeof chunk === "number" && arguments.length === 1) {
                if (!this.get("Content-Type")) this.type("txt");
                deprecations()("res.send(status): Use res.sendStatus(status) instead");
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

        json(obj: unknown, ...more: unknown[]): Response {
            return sendJson(dialect, this, more.length === 1 ? valueOf(this, "json", [obj, more[0]], "obj") : obj);
        },

        jsonp(obj: unknown, ...more: unknown[]): Response {
            return sendJsonp(dialect, this, more.length === 1 ? valueOf(this, "jsonp", [obj, more[0]], "obj") : obj);
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
            deprecations()("res.sendfile: Use res.sendFile instead");
            const { req } = this;
            const { next } = req;
            const { given, done } = optionsAndCallback(options, callback);
            transfer(dialect, this, send()(req, path, given), given, (error) => settle(error, done, next));
        },

        contentType,
        type: contentType,

        attachment(filename?: string): Response {
            if (filename) this.type(extname(filename));
            this.set("Content-Disposition", contentDisposition()(filename));
            return this;
        },

        clearCookie(name: string, options?: { maxAge?: unknown; expires?: unknown }): Response {
            if (options?.maxAge) deprecations()(ignored("maxAge"));
            if (options?.expires) deprecations()(ignored("expires"));
            return this.cookie(name, "", dialect.merge({ expires: new Date(1), path: "/" }, options));
        },

        location(url: unknown): Response {
            let target = String(url);
            if (url === "back") {
                deprecations()('res.location("back"): use res.location(req.get("Referrer") || "/") and refer to https://dub.sh/security-redirect for best practices');
                target = (this.req.get("Referrer") as string | undefined) || "/";
            }
            return this.set("Location", encodeUrl()(target));
        },

        redirect(url: unknown, ...more: unknown[]): void {
            let address = url;
            let status: unknown = 302;
            if (more.length === 1) {
                if (typeof url === "number") {
                    status = url;
                    address = more[0];
                } else {
                    deprecations()("res.redirect(url, status): Use res.redirect(status, url) instead");
                    status = more[0];
                }
            }
            const target = this.location(address).get("Location") as string;
            const body = redirectBody(this, (html) => {
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
                deprecations()("res.vary(): Provide a field name");
                return this;
            }
            vary()(this, field);
            return this;
        },
    };
    return methods;
}
