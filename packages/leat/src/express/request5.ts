// What only Express 5's requests have.
import { type Dialect } from "./dialect";
import { hostOf, withoutPort } from "./request";
import { type Request } from "./types";

/** Made anew by each reading, since the target or the parser may have changed. */
export function moreRequestMethods({ libraries }: Dialect): object {
    const methods: ThisType<Request> & object = {
        get query(): unknown {
            const parse = this.app.get("query parser fn") as ((text: string | null | undefined) => unknown) | undefined;
            if (!parse) return Object.create(null) as unknown;
            return parse((libraries.parseUrl()(this) as { query: string | null }).query);
        },

        get host(): string | undefined {
            return hostOf(this) || undefined;
        },

        get hostname(): string | undefined {
            return withoutPort(this.host);
        },
    };
    return methods;
}
