// What only Express 4's requests have.
import { type Dialect } from "../dialect";
import { hostOf, withoutPort } from "../request";
import { type Request } from "../types";

type Bag = Record<string, unknown>;

/** Methods that Express 5 has dropped. */
export function moreRequestMethods({ libraries }: Dialect): object {
    const deprecate = (message: string): void => libraries.depd()("express")(message);
    const methods: ThisType<Request> & object = {
        acceptsEncoding(...encodings: unknown[]): unknown {
            deprecate("req.acceptsEncoding: Use acceptsEncodings instead");
            return this.acceptsEncodings(...encodings);
        },

        acceptsCharset(...charsets: unknown[]): unknown {
            deprecate("req.acceptsCharset: Use acceptsCharsets instead");
            return this.acceptsCharsets(...charsets);
        },

        acceptsLanguage(...languages: unknown[]): unknown {
            deprecate("req.acceptsLanguage: Use acceptsLanguages instead");
            return this.acceptsLanguages(...languages);
        },

        param(name: string, ...fallback: [unknown?]): unknown {
            const params: Bag = this.params ?? {};
            const body = (this.body || {}) as Bag;
            const query: Bag = this.query || {};
            deprecate(`req.param(${fallback.length === 0 ? "name" : "name, default"}): Use req.params, req.body, or req.query instead`);
            if (params[name] != null && Object.hasOwn(params, name)) return params[name];
            if (body[name] != null) return body[name];
            if (query[name] != null) return query[name];
            return fallback[0];
        },

        get hostname(): string | undefined {
            return withoutPort(hostOf(this));
        },

        get host(): string | undefined {
            deprecate("req.host: Use req.hostname instead");
            return this.hostname;
        },
    };
    return methods;
}
