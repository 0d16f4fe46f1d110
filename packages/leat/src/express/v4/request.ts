// What only Express 4's requests have.
import { type Dialect } from "../dialect";
import { deprecationsOf } from "../libraries";
import { hostOf, withoutPort } from "../request";
import { type Request } from "../types";

type Bag = Record<string, unknown>;

/** Methods that Express 5 has dropped. */
export function moreRequestMethods({ libraries }: Dialect): object {
    const deprecations = deprecationsOf(() => libraries.depd()("express"));
    const methods: ThisType<Request> & object = {
        acceptsEncoding(...encodings: unknown[]): unknown {
            deprecations()("req.acceptsEncoding: Use acceptsEncodings instead");
            return this.acceptsEncodings(...encodings);
        },

        acceptsCharset(...charsets: unknown[]): unknown {
            deprecations()("req.acceptsCharset: Use acceptsCharsets instead");
            return this.acceptsCharsets(...charsets);
        },

        acceptsLanguage(...languages: unknown[]): unknown {
            deprecations()("req.acceptsLanguage: Use acceptsLanguages instead");
            return this.acceptsLanguages(...languages);
        },

        param(name: string, fallback: unknown): unknown {
            const params: Bag = this.params ?? {};
            const body = (this.body || {}) as Bag;
            const query: Bag = this.query || {};
            deprecations()(`req.param(${arguments.length === 1 ? "name" : "name, default"}): Use req.params, req.body, or req.query instead`);
            if (params[name] != null && Object.hasOwn(params, name)) return params[name];
            if (body[name] != null) return body[name];
            if (query[name] != null) return query[name];
            return fallback;
        },

        get hostname(): string | undefined {
            return withoutPort(hostOf(this));
        },

        get host(): string | undefined {
            deprecations()("req.host: Use req.hostname instead");
            return this.hostname;
        },
    };
    return methods;
}
