// A plug-in that reads and changes bodies, and counts: the gateway's test and the transport's load this same file.
import { middleware } from "leat/middleware";
import { body, counter } from "leat/gateway";

export const checked = counter("checked", { help: "Orders that were looked at.", labels: ["size"] });

export default middleware({
    name: "orders",
    scope: "call",
    bodies: ["request", "response"],
    onRequest({ request }) {
        const order = body(request).json();
        checked.add(1, { size: order.amount > 9 ? "large" : "small" });
        return { body: JSON.stringify({ ...order, checked: true }) };
    },
    onResponse: ({ response }) => ({ body: new TextEncoder().encode(JSON.stringify({ ...body(response).json(), seen: true })) }),
});
