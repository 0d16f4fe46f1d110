// What only Express 5's responses have, or have in their own way.
import { basename, extname } from "node:path";
import { type Dialect } from "./dialect";
import { deprecationsOf } from "./libraries";
import { redirectBody } from "./redirect";
import { type Response } from "./types";

/** Methods of which Express 4 has another form. */
export function moreResponseMethods({ libraries }: Dialect): object {
    const { contentDisposition, depd, encodeUrl, mime, statuses } = libraries;
    const deprecations = deprecationsOf(() => depd()("express"));

    function contentType(this: Response, type: string): Response {
        // `indexOf`, since the engine's message for a wrong `type` names the method.
        return this.set("Content-Type", type.indexOf("/") === -1 ? mime().contentType(type) || "application/octet-stream" : type);
    }

    const methods: ThisType<Response> & object = {
        status(code: number): Response {
            if (!Number.isInteger(code)) throw new TypeError(`Invalid status code: ${JSON.stringify(code)}. Status code must be an integer.`);
            if (code < 100 || code > 999) throw new RangeError(`Invalid status code: ${JSON.stringify(code)}. Status code must be greater than 99 and less than 1000.`);
            this.statusCode = code;
            return this;
        },

        contentType,
        type: contentType,

        attachment(filename?: string): Response {
            const name = filename === undefined ? undefined : basename(filename);
            if (name) this.type(extname(name));
            this.set("Content-Disposition", contentDisposition()(name));
            return this;
        },

        clearCookie(name: string, options?: object): Response {
            const given: { maxAge?: unknown } = { path: "/", ...options, expires: new Date(1) } as object;
            delete given.maxAge;
            return this.cookie(name, "", given);
        },

        location(url: string): Response {
            return this.set("Location", encodeUrl()(url));
        },

        redirect(url: unknown, ...more: unknown[]): void {
            const [status, address] = more.length === 1 ? [url, more[0]] : [302, url];
            if (!address) deprecations()("Provide a url argument");
            if (typeof address !== "string") deprecations()("Url must be a string");
            if (typeof status !== "number") deprecations()("Status must be a number");
            const target = this.location(address).get("Location") as string;
            const body = redirectBody(this, (html) => {
                const phrase = String(statuses().message[status as number]);
                const text = `${phrase}. Redirecting to ${html ? libraries.escapeHtml()(target) : target}`;
                return html ? `<!DOCTYPE html><head><title>${phrase}</title></head><body><p>${text}</p></body>` : text;
            });
            this.status(status as number);
            this.set("Content-Length", Buffer.byteLength(body));
            if (this.req.method === "HEAD") this.end();
            else this.end(body);
        },
    };
    return methods;
}
