// An order wants a number of the client's own, so that one that is sent twice can be told: answered here, without the service.
import { middleware } from "leat/middleware";

const body = JSON.stringify({ error: "say idempotency-key: a number of your own for this order" });

export default middleware({
    name: "once",
    scope: "call",
    onRequest({ request }) {
        if (request.method !== "POST" || request.headers["idempotency-key"] !== undefined) return undefined;
        return { respond: { status: 400, headers: { "content-type": "application/json" }, body } };
    },
});
