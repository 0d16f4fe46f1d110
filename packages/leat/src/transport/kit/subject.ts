// A transport around the middleware under test: its own clock, its own connection, and a look at the call from inside.
import { middleware, type Middleware } from "../../middleware/middleware";
import { call, type Call } from "../call";
import { Abort } from "../signal";
import { type RequestOptions } from "../request";
import { secret } from "../secret";
import { Transport, type TransportResponse } from "../transport";
import { ScriptedConnection, type ScriptedConnectionOptions } from "./scripted_connection";
import { VirtualClock } from "./virtual_clock";

/** What is sent: every part of a request that middleware may want to change. */
export const BODY = "a body of the conformance kit. ".repeat(64);
/** Nobody may tell it. */
export const SECRET = "conformance-s3cr3t-7f3a";

const AUTHORITY = "http://conformance.test";
/** As a caller writes it, frozen down to its values. */
export const REQUEST = Object.freeze({
    method: "PUT",
    path: "/conformance",
    querystring: Object.freeze({ a: "b", none: undefined }),
    headers: Object.freeze({ "x-conformance": "1", "x-secret": secret(SECRET) }),
    body: BODY,
}) satisfies RequestOptions;

/** One transport, and what is left of its calls. */
export class Subject {
    readonly clock = new VirtualClock();
    readonly connection: ScriptedConnection;
    readonly transport: Transport;
    /** The calls as middleware see them, in the order of their beginning. */
    readonly calls: Call[] = [];

    constructor(list: readonly Middleware[], script: ScriptedConnectionOptions["script"], { development = false } = {}) {
        this.connection = new ScriptedConnection({ clock: this.clock, script });
        this.transport = new Transport({
            nodes: AUTHORITY,
            connection: this.connection,
            clock: this.clock,
            random: () => 0,
            timeoutMs: Infinity,
            development,
            middleware: [watching(this.calls), ...list],
        });
    }

    request(more: Partial<RequestOptions> = {}): Promise<TransportResponse> {
        return this.clock.settle(this.begin(more));
    }

    /** A call whose time nobody moves on yet. */
    begin(more: Partial<RequestOptions> = {}): Promise<TransportResponse> {
        return this.transport.request({ ...REQUEST, ...more });
    }

    /** What the calls left behind, in words; nothing if that is nothing. */
    left(): readonly string[] {
        const left: string[] = [];
        const { clock, connection, calls } = this;
        if (clock.pending > 0) left.push(`${clock.pending} timers, the next one in ${clock.nextInMs ?? 0} ms`);
        if (connection.open > 0) left.push(`${connection.open} tries under way`);
        for (const { signal } of calls) {
            // The transport's own listener stays: it goes with the call.
            if (signal instanceof Abort && signal.listenerCount > 1) left.push(`${signal.listenerCount - 1} listeners at the call's signal`);
        }
        return left;
    }
}

function watching(calls: Call[]): Middleware<"call"> {
    return middleware({
        name: "conformance_watch",
        scope: "call",
        reads: [call],
        onRequest(context) {
            const own = context.get(call);
            if (own !== undefined) calls.push(own);
            return undefined;
        },
    });
}

/** A caller's signal that counts who listens at it. */
export class CallersSignal extends Abort {
    /** Aborts it as a caller does. */
    give(reason: unknown): void {
        this.abort(reason);
    }
}
