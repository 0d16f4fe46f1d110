// The answer to OPTIONS when no layer gave one.
import { type Next, type Reply } from "../types";

/** Replies in Express 4 have these by then. */
interface ExpressReply {
    set(field: string, value: string): unknown;
    send(body: string): unknown;
}

export function answerOptions(res: Reply, methods: readonly string[], failed: Next): void {
    try {
        const reply = res as ExpressReply;
        const allow = methods.join(",");
        reply.set("Allow", allow);
        reply.send(allow);
    } catch (error) {
        failed(error);
    }
}
