// A plug-in that runs in both directions: the gateway's test and the transport's load this same file.
import { middleware } from "leat/middleware";
import { upstream } from "leat/gateway";

export default ({ header, canary }) => [
    middleware({
        name: "tenant",
        scope: "call",
        writes: [upstream],
        onRequest({ request }) {
            const tenant = request.headers[header];
            if (tenant === undefined) return { respond: { status: 400, headers: { "content-type": "text/plain" }, body: "no tenant" } };
            return { headers: { "x-tenant": String(tenant).toLowerCase() }, ...(tenant === canary && { set: { upstream: "canary" } }) };
        },
        onResponse: ({ response }) => ({ headers: { "x-answered": String(response.status), server: null } }),
    }),
    middleware({ name: "timing", scope: "call", after: "tenant", around: (context, next) => next({ headers: { "x-path": context.request.path } }) }),
];
