// The methods of responses, which are `express.response`: what they say about themselves. Bodies are in `send.ts`, files
// in `files.ts`.
import { ServerResponse } from "../http/response";
import { type Dialect } from "./dialect";
import { fileMethods } from "./files";
import { acceptParams } from "./media";
import { sendMethods, UTF8_TYPE } from "./send";
import { type Application, type Choices, type RenderCallback, type Response } from "./types";

interface CookieOptions {
    signed?: boolean;
    maxAge?: unknown;
    expires?: Date;
    path?: string | null;
}

/** What Express 4 and 5 share; the rest is added by their own files. */
function responseMethods(dialect: Dialect): object {
    const { cookie, cookieSignature, httpErrors, mime, vary } = dialect.libraries;

    function header(this: Response, field: string | Record<string, unknown>, given: unknown): Response {
        if (arguments.length !== 2) {
            // Inherited ones too.
            for (const name in field as Record<string, unknown>) this.set(name, (field as Record<string, unknown>)[name]);
            return this;
        }
        let value: string | false | string[] = Array.isArray(given) ? given.map(String) : String(given);
        if ((field as string).toLowerCase() === "content-type") {
            if (Array.isArray(value)) throw new TypeError("Content-Type cannot be set to an Array");
            // It has all that the library could add.
            if (!UTF8_TYPE.test(value)) value = mime().contentType(value);
        }
        this.setHeader(field as string, value as string);
        return this;
    }

    const methods: ThisType<Response> & object = {
        links(links: Record<string, unknown>): Response {
            let link = (this.get("Link") as string | undefined) || "";
            if (link) link += ", ";
            return this.set("Link", link + Object.keys(links).map((rel) => ([] as unknown[]).concat(links[rel]).map((target) => `<${target as string}>; rel="${rel}"`).join(", ")).join(", "));
        },

        // Engine messages name the variables of a wrong call, so these have Express's names.
        format(obj: Choices): Response {
            const { req } = this;
            const { next } = req;
            const keys = Object.keys(obj).filter((name) => name !== "default");
            const key = keys.length > 0 ? (req.accepts(keys) as string | false) : false;
            this.vary("Accept");
            if (key) {
                this.set("Content-Type", typeOf(key));
                (obj[key] as Choices[string])(req, this, next);
            } else if (obj["default"]) {
                obj["default"](req, this, next);
            } else {
                next(httpErrors()(406, { types: keys.map(typeOf) }));
            }
            return this;
        },

        append(field: string, value: unknown): Response {
            const before = this.get(field);
            let all = value;
            if (before) all = Array.isArray(before) ? before.concat(value as string) : [before].concat(value as string);
            return this.set(field, all);
        },

        set: header,
        header,

        get(field: string): unknown {
            return this.getHeader(field);
        },

        cookie(name: string, value: unknown, options?: CookieOptions): Response {
            const given: CookieOptions = dialect.merge(options);
            const { secret } = this.req;
            const { signed } = given;
            if (signed && !secret) throw new Error('cookieParser("secret") required for signed cookies');
            // eslint-disable-next-line @typescript-eslint/no-base-to-string -- a function or a symbol is written as its own text, as by Express
            let text = typeof value === "object" ? `j:${JSON.stringify(value)}` : String(value);
            if (signed) text = `s:${cookieSignature().sign(text, secret)}`;
            if (given.maxAge != null) {
                const ms = (given.maxAge as number) - 0;
                if (!Number.isNaN(ms)) {
                    given.expires = new Date(Date.now() + ms);
                    given.maxAge = Math.floor(ms / 1000);
                }
            }
            given.path ??= "/";
            this.append("Set-Cookie", cookie().serialize(name, text, given));
            return this;
        },

        vary(field: unknown): Response {
            vary()(this, field);
            return this;
        },

        render(view: string, options?: unknown, callback?: RenderCallback): void {
            const { req } = this;
            const { app } = req as { app: Application };
            let done = callback;
            let given = (options || {}) as Record<string, unknown>;
            if (typeof options === "function") {
                done = options as RenderCallback;
                given = {};
            }
            given["_locals"] = this.locals;
            done ||= (error, text) => {
                if (error) req.next(error);
                else this.send(text);
            };
            app.render(view, given, done);
        },
    };

    function typeOf(choice: string): string {
        return choice.includes("/") ? acceptParams(choice).value : mime().lookup(choice) || "application/octet-stream";
    }

    return methods;
}

/** The object that responses of `dialect` inherit from, with `more` methods of its own. */
export function responsePrototype(dialect: Dialect, more: object): object {
    const prototype = Object.create(ServerResponse.prototype) as Response;
    for (const methods of [responseMethods(dialect), sendMethods(dialect), fileMethods(dialect), more]) {
        Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(methods));
    }
    const { get, send, set, type } = prototype;
    Object.assign(dialect.own, { get, send, set, type });
    return prototype;
}

