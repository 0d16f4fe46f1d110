// What the types of leat/transport allow and refuse. It is compiled by `npm run lint`, and never run.
import { middleware, slot } from "leat/middleware";
import { type Body, call, type Connection, isReplayable, type ReplayableBody, retry, secret, Transport, TransportError, undici } from "leat/transport";

const tenant = slot("tenant").of<string>();

const route = middleware({
    name: "route",
    scope: "attempt",
    reads: [call, tenant],
    onRequest(context) {
        const known = context.get(call);
        const left: number | undefined = known?.leftMs();
        // @ts-expect-error a call is read-only
        if (known !== undefined) known.limits = { rawBytesMax: 1, decodedBytesMax: 1, ratioMax: 1 };
        return { headers: { "x-tenant": context.get(tenant) ?? "", "x-left": String(left) } };
    },
});

const transport = new Transport({ nodes: ["http://127.0.0.1:1", { url: new URL("http://127.0.0.1:2"), weight: 2 }], middleware: [retry(), route], provides: [tenant], connection: undici({ connections: 10 }) });

export async function calls(): Promise<number> {
    const { body, attempts } = await transport.request<{ readonly id: number }>({ method: "POST", path: "/a", querystring: { size: 10, tags: ["a", "b"] }, headers: { "x-api-key": secret("a") }, body: { a: 1 }, set: { tenant: "a" } });
    // @ts-expect-error a slot holds its own type
    await transport.request({ path: "/", set: { tenant: 1 } });
    // @ts-expect-error a path there must be
    await transport.request({ method: "GET" });
    // @ts-expect-error a form is one of those that are known
    await transport.request({ path: "/", as: "xml" });
    // @ts-expect-error a member that does not exist
    await transport.request({ path: "/", retries: 3 });
    // @ts-expect-error attempts are told, and not written
    attempts.length = 0;
    return body.id;
}

/** Only what can be sent again is let through. */
export function again(body: Body | undefined, send: (body: ReplayableBody | undefined) => void): void {
    // @ts-expect-error a stream may be gone
    send(body);
    if (isReplayable(body)) send(body);
}

export const code = (error: unknown): string => (error instanceof TransportError && error.code === "call.deadline" ? "late" : "other");
// @ts-expect-error a code that does not exist
export const wrong = (error: TransportError): boolean => error.code === "timeout";
// @ts-expect-error a connection closes too
export const connection: Connection = { name: "a", send: () => ({ status: 200, headers: {}, body: new Uint8Array(0) }) };
// @ts-expect-error nodes there must be
export const none = new Transport({});
