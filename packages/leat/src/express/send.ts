// `res.send`, `res.json`, `res.jsonp` and `res.sendStatus`.
import { type Dialect } from "./dialect";
import { isPlainEnd, plainFields, sendInOne, sendValue } from "../http/response";
import { weakETag, weakTagOf } from "./etag";
import { plainSettings, setting } from "./settings";
import { type Response, type Settings } from "./types";

type ETag = (body: string | Buffer, encoding: BufferEncoding | undefined) => string | undefined;
type Replacer = (key: string, value: unknown) => unknown;

/** The usual types. */
const JSON_TYPE = "application/json; charset=utf-8";
export const HTML_TYPE = "text/html; charset=utf-8";
export const BYTES_TYPE = "application/octet-stream";

/** Types that stay as they are when they are given the charset of UTF-8. */
export const UTF8_TYPE = /^[a-z]+\/[a-z0-9.+-]+; charset=utf-8$/;

/** Texts from this length on become bytes before anything is made of them: digest and engine then take them as they are. */
const LONG_CHARS = 65_536;

let encoder: InstanceType<typeof TextEncoder> | undefined;

/** The methods that send a body, as Express 5 has them. Express 4 has some of its own around them. */
export function sendMethods(dialect: Dialect): object {
    const { statuses } = dialect.libraries;

    const methods: ThisType<Response> & object = {
        send(body?: unknown): Response {
            if (typeof body === "string" ? sendPlain(dialect, this, body, HTML_TYPE) : Buffer.isBuffer(body) && sendPlain(dialect, this, body, BYTES_TYPE)) return this;
            let chunk = body;
            let encoding: BufferEncoding | undefined;
            switch (typeof chunk) {
                case "string": {
                    encoding = "utf8";
                    const type = this.get("Content-Type");
                    if (typeof type === "string") this.set("Content-Type", withUtf8(dialect, type));
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
            return sendJson(dialect, this, value);
        },

        jsonp(value: unknown): Response {
            return sendJsonp(dialect, this, value);
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
export function sendBytes(dialect: Dialect, res: Response, body: unknown, given: BufferEncoding | undefined): Response {
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
        if (dialect.version === 4 || !res.get("Transfer-Encoding")) res.set("Content-Length", length);
    }
    if (tagged && length !== undefined) {
        const tag = etag(chunk as Buffer, encoding);
        if (tag) res.set("ETag", tag);
    }
    return finish(dialect.version, res, chunk, encoding);
}

/** Sends `body` after the last changes that its status and the request want. */
function finish(version: 4 | 5, res: Response, body: string | Buffer | undefined, encoding: BufferEncoding | undefined): Response {
    const { req } = res;
    let chunk = body;
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

/** The type with the charset of UTF-8. */
export function withUtf8({ libraries }: Dialect, type: string): string {
    if (!type || UTF8_TYPE.test(type)) return type;
    const parsed = libraries.contentType().parse(type);
    parsed.parameters["charset"] = "utf-8";
    return libraries.contentType().format(parsed);
}

/** Whether these settings leave JSON and entity tags as they are by default. */
function hasUsual(settings: Settings): boolean {
    return !settings["json escape"] && !settings["json replacer"] && !settings["json spaces"] && settings["etag fn"] === weakETag;
}

/** `res.json(value)`. */
export function sendJson(dialect: Dialect, res: Response, value: unknown): Response {
    const direct = plainSettings(dialect, res.app);
    const { own } = dialect;
    if (sendValue !== undefined && direct !== undefined && hasUsual(direct) && res.send === own.send && res.get === own.get && res.set === own.set && res.type === own.type && sendValue(res, value)) return res;
    const text = stringify(dialect, res, value, direct);
    if (text !== undefined && res.send === own.send && sendPlain(dialect, res, text, JSON_TYPE, direct)) return res;
    if (!res.get("Content-Type")) res.set("Content-Type", "application/json");
    return res.send(text);
}

/**
 * Sends a body with the default settings, where no method that Express calls for it was replaced: the same fields
 * without the calls. `type` is for a body without one. False, and nothing is changed, if it can't be done so.
 */
export function sendPlain(dialect: Dialect, res: Response, given: string | Buffer, type: string, settings?: Settings): boolean {
    const { own, version } = dialect;
    if (res.get !== own.get || res.set !== own.set || res.type !== own.type) return false;
    if ((settings === undefined ? setting(dialect, res.app, "etag fn") : settings["etag fn"]) !== weakETag) return false;
    if (sendInOne !== undefined && sendInOne(res, given, type)) return true;
    if (!isPlainEnd(res)) return false;
    const fields = plainFields(res);
    if (fields === undefined || fields["etag"] !== undefined || fields["transfer-encoding"] !== undefined) return false;
    const wasText = typeof given === "string";
    const before = fields["content-type"];
    if (before === undefined) fields["content-type"] = ["Content-Type", type];
    else if (wasText ? !UTF8_TYPE.test(before[1]) : !before[1]) return false;
    else if (wasText) fields["content-type"] = ["Content-Type", before[1]];
    const body = wasText && given.length >= LONG_CHARS ? bytesOf(given) : given;
    const isText = typeof body === "string";
    const length = Buffer.byteLength(body);
    fields["content-length"] = ["Content-Length", `${length}`];
    fields["etag"] = ["ETag", weakTagOf(body, length)];
    // Express sends a buffer, which leaves the head in Latin-1. A string of ASCII in Latin-1 does the same and needs none.
    if (isText && length === body.length) finish(version, res, body, "latin1");
    else finish(version, res, isText ? Buffer.from(body) : body, undefined);
    return true;
}

/** Text in UTF-8. Most long texts are ASCII, whose bytes are counted and written in one pass. */
function bytesOf(text: string): Buffer {
    const bytes = Buffer.allocUnsafeSlow(text.length);
    const { read } = (encoder ??= new TextEncoder()).encodeInto(text, bytes);
    return read === text.length ? bytes : Buffer.from(text);
}

/** `value` as the app's settings for JSON want it. */
export function stringify(dialect: Dialect, res: Response, value: unknown, given?: Settings): string | undefined {
    const { app } = res;
    const direct = given ?? plainSettings(dialect, app);
    const escape = direct === undefined ? setting(dialect, app, "json escape") : direct["json escape"];
    const replacer = (direct === undefined ? setting(dialect, app, "json replacer") : direct["json replacer"]) as Replacer | undefined;
    const spaces = (direct === undefined ? setting(dialect, app, "json spaces") : direct["json spaces"]) as number | undefined;
    const text = (replacer || spaces ? JSON.stringify(value, replacer, spaces) : JSON.stringify(value)) as string | undefined;
    return escape && typeof text === "string" ? text.replace(/[<>&]/g, escaped) : text;
}

function escaped(char: string): string {
    return `\\u00${char.charCodeAt(0).toString(16)}`;
}

/** As JSON, or as a script that calls back with it where the query names a function. */
export function sendJsonp(dialect: Dialect, res: Response, value: unknown): Response {
    let text = stringify(dialect, res, value);
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
