// `res.send`, `res.json`, `res.jsonp` and `res.sendStatus`.
import { type Dialect } from "./dialect";
import { type Response } from "./types";

type ETag = (body: string | Buffer, encoding: BufferEncoding | undefined) => string | undefined;
type Replacer = (key: string, value: unknown) => unknown;

/** The methods that send a body, as Express 5 has them. Express 4 has some of its own around them. */
export function sendMethods(dialect: Dialect): object {
    const { contentType, statuses } = dialect.libraries;

    function withUtf8(type: string): string {
        const parsed = contentType().parse(type);
        parsed.parameters["charset"] = "utf-8";
        return contentType().format(parsed);
    }

    const methods: ThisType<Response> & object = {
        send(body?: unknown): Response {
            let chunk = body;
            let encoding: BufferEncoding | undefined;
            switch (typeof chunk) {
                case "string": {
                    encoding = "utf8";
                    const type = this.get("Content-Type");
                    if (typeof type === "string") this.set("Content-Type", withUtf8(type));
                    else this.type("html");
                    break;
                }
                case "boolean":
                case "number":
                case "object":
                    if (chunk === null) {
                        chunk = "";
                    } else if (ArrayBuffer.isView(chunk)) {
                        if (!this.get("Content-Type")) this.type("bin");
                    } else {
                        return this.json(chunk);
                    }
                    break;
                default:
            }
            return sendBytes(dialect, this, chunk, encoding);
        },

        json(value: unknown): Response {
            const text = stringify(this, value);
            if (!this.get("Content-Type")) this.set("Content-Type", "application/json");
            return this.send(text);
        },

        jsonp(value: unknown): Response {
            return sendJsonp(this, value);
        },

        sendStatus(status: number): Response {
            const text = statuses().message[status] || String(status);
            this.status(status);
            this.type("txt");
            return this.send(text);
        },
    };
    return methods;
}

/** Sends `chunk` with its length and entity tag, or nothing of it where the status or the request wants that. */
export function sendBytes({ version }: Dialect, res: Response, body: unknown, given: BufferEncoding | undefined): Response {
    const { req } = res;
    let chunk = body as string | Buffer | undefined;
    let encoding = given;
    const etag = res.app.get("etag fn") as ETag | undefined;
    const tagged = !res.get("ETag") && typeof etag === "function";
    let length: number | undefined;
    if (chunk !== undefined) {
        if (Buffer.isBuffer(chunk)) {
            length = chunk.length;
        } else if (!tagged && chunk.length < 1000) {
            length = Buffer.byteLength(chunk, encoding);
        } else {
            chunk = Buffer.from(chunk, encoding);
            encoding = undefined;
            length = chunk.length;
        }
        // Where the program declared chunks, Express 5 leaves the length out.
        if (version === 4 || !res.get("Transfer-Encoding")) res.set("Content-Length", length);
    }
    if (tagged && length !== undefined) {
        const tag = etag(chunk as Buffer, encoding);
        if (tag) res.set("ETag", tag);
    }
    if (req.fresh) {
        if (version === 4) res.statusCode = 304;
        else res.status(304);
    }
    if (res.statusCode === 204 || res.statusCode === 304) {
        res.removeHeader("Content-Type");
        res.removeHeader("Content-Length");
        res.removeHeader("Transfer-Encoding");
        chunk = "";
    }
    if (res.statusCode === 205) {
        res.set("Content-Length", "0");
        res.removeHeader("Transfer-Encoding");
        chunk = "";
    }
    if (req.method === "HEAD") res.end();
    else res.end(chunk, encoding as BufferEncoding);
    return res;
}

/** `value` as the app's settings for JSON want it. */
export function stringify(res: Response, value: unknown): string | undefined {
    const { app } = res;
    const escape = app.get("json escape");
    const replacer = app.get("json replacer") as Replacer | undefined;
    const spaces = app.get("json spaces") as number | undefined;
    const text = (replacer || spaces ? JSON.stringify(value, replacer, spaces) : JSON.stringify(value)) as string | undefined;
    return escape && typeof text === "string" ? text.replace(/[<>&]/g, escaped) : text;
}

function escaped(char: string): string {
    return `\\u00${char.charCodeAt(0).toString(16)}`;
}

/** As JSON, or as a script that calls back with it where the query names a function. */
export function sendJsonp(res: Response, value: unknown): Response {
    let text = stringify(res, value);
    let callback = res.req.query[res.app.get("jsonp callback name") as string];
    if (!res.get("Content-Type")) {
        res.set("X-Content-Type-Options", "nosniff");
        res.set("Content-Type", "application/json");
    }
    if (Array.isArray(callback)) callback = callback[0] as unknown;
    if (typeof callback === "string" && callback.length !== 0) {
        res.set("X-Content-Type-Options", "nosniff");
        res.set("Content-Type", "text/javascript");
        const name = callback.replace(/[^[\]\w$.]/g, "");
        // Two separators that JSON allows and old JavaScript does not.
        text = text === undefined ? "" : text.replace(/\u2028/g, "\\u2028").replace(/\u2029/g, "\\u2029");
        // The comment keeps a body from being read as a Flash file.
        text = `/**/ typeof ${name} === 'function' && ${name}(${text});`;
    }
    return res.send(text);
}
