// A call's answer in gRPC's form: head, enveloped messages, status in the trailers. The engine makes the client's protocol of it.
import { type ServerResponse } from "node:http";
import { type CallContext } from "./context";
import { enveloped } from "./envelopes";
import { connect, grpc } from "./libraries";

const CONTENT_TYPE = "application/grpc+proto";
const OK = { "grpc-status": "0" };

/** Sends the head, with what the implementation has put into it so far. */
export function sendHead(response: ServerResponse, context: CallContext): void {
    if (response.headersSent) return;
    const headers = context.touchedHeader;
    if (headers === undefined) response.writeHead(200, { "content-type": CONTENT_TYPE });
    else response.writeHead(200, [...flat(headers), "content-type", CONTENT_TYPE]);
}

/** Sends a message; resolves when the client takes more. `undefined` where that is at once. */
export function sendMessage(response: ServerResponse, message: Uint8Array): Promise<void> | undefined {
    if (response.write(enveloped(message)) || response.destroyed) return undefined;
    return new Promise((resolve) => {
        const done = (): void => {
            response.off("drain", done).off("close", done);
            resolve();
        };
        response.on("drain", done).on("close", done);
    });
}

/** Ends the answer with success. */
export function sendEnd(response: ServerResponse, context: CallContext): void {
    sendHead(response, context);
    const trailers = context.touchedTrailer;
    response.addTrailers(trailers === undefined ? OK : [...pairs(trailers), ["grpc-status", "0"]]);
    response.end();
}

/** Ends the answer with an error: a ConnectError as it is, of anything else nothing is told. */
export function sendError(response: ServerResponse, context: CallContext, reason: unknown): void {
    if (response.writableEnded || response.destroyed) return;
    const { ConnectError, Code } = connect();
    const error = reason instanceof ConnectError ? reason : new ConnectError("internal error", Code.Internal, undefined, undefined, reason);
    sendHead(response, context);
    const trailers = context.touchedTrailer ?? new Headers();
    response.addTrailers(pairs(grpc().setTrailerStatus(trailers, error)));
    response.end();
}

function pairs(headers: Headers): [string, string][] {
    const found: [string, string][] = [];
    headers.forEach((value, name) => found.push([name, value]));
    return found;
}

function flat(headers: Headers): string[] {
    return pairs(headers).flat();
}
