// Sends those who ask for it to the new version of the service, and says on every reply which version answered.
import { upstream } from "leat/gateway";
import { middleware } from "leat/middleware";

interface Options {
    /** The request header that asks for it, with the value `1`. */
    readonly header: string;
}

export default ({ header }: Options) =>
    middleware({
        name: "beta",
        scope: "call",
        writes: [upstream],
        onRequest: ({ request }) => (request.headers[header] === "1" ? { set: { upstream: "orders-beta" } } : undefined),
        onResponse: ({ request }) => ({ headers: { "x-version": request.headers[header] === "1" ? "beta" : "stable" } }),
    });
