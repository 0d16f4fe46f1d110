// The answer to OPTIONS when no layer gave one.
import { type ServerResponse } from "node:http";
import { type Next, type Reply } from "../types";

export function answerOptions(res: Reply, methods: readonly string[], failed: Next): void {
    try {
        const reply = res as ServerResponse;
        const allow = [...new Set(methods)].sort().join(", ");
        reply.setHeader("Allow", allow);
        reply.setHeader("Content-Length", Buffer.byteLength(allow));
        reply.setHeader("Content-Type", "text/plain");
        reply.setHeader("X-Content-Type-Options", "nosniff");
        reply.end(allow);
    } catch (error) {
        failed(error);
    }
}
