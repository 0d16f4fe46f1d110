// A small body as a whole, past the request's stream, for a middleware that would only collect it: when the middleware
// is called the body is mostly in the same batch of records, and a stream with its events costs as much as the request.
import { AsyncResource } from "node:async_hooks";
import { type IncomingMessage as NodeRequest } from "node:http";
import { type Channel, Mode } from "./channel";
import { listens } from "./lifecycle";
import { kChannel, LeatSocket } from "./socket";

/** Who wants the body of a request. */
export interface BodyTaker {
    /** Looks at the whole body. False if it is to come by the stream after all. */
    parse(body: Buffer): boolean;
    /** The body was taken, and the request's stream has ended. */
    done(): void;
    /** Listens to the stream: the body, or the lack of one, will be told there. */
    read(): void;
}

/** What a channel knows of the taker of its request's body. */
export interface Taking {
    readonly taker: BodyTaker;
    /** The async context in which the body was asked for. */
    readonly resource: AsyncResource;
    readonly bytes: number;
    body: Buffer | null;
}

interface RequestState {
    _consuming: boolean;
    _dumped: boolean;
    _readableState: {
        flowing: boolean | null;
        length: number;
        ended: boolean;
        endEmitted: boolean;
        destroyed: boolean;
        closed: boolean;
        closeEmitted: boolean;
    };
}

/** Lets `taker` have the body of `req`, which is `bytes` long. False, and nothing happens, if only the stream can tell it. */
export function takeBody(req: NodeRequest, bytes: number, taker: BodyTaker): boolean {
    const { socket } = req;
    if (!(socket instanceof LeatSocket)) return false;
    const channel = socket[kChannel];
    const state = req as unknown as RequestState;
    const readable = state._readableState;
    if (channel.body !== req || channel.bodyDone || channel.mode !== Mode.Http || channel.taking !== null) return false;
    if (listens(req) || state._consuming || state._dumped || readable.flowing !== null || req.readableEncoding !== null || readable.length !== 0 || readable.destroyed) return false;
    // As a stream that somebody reads.
    state._consuming = true;
    channel.taking = { taker, resource: new AsyncResource("LEATBODY"), bytes, body: null };
    return true;
}

/** Keeps a piece of the body if it is all of it. False if it belongs into the stream. */
export function keepBody(channel: Channel, taking: Taking, piece: Buffer): boolean {
    const { body } = channel;
    if (body !== null && taking.body === null && piece.length === taking.bytes && !listens(body)) {
        taking.body = piece;
        return true;
    }
    giveBack(channel);
    return false;
}

/** The body has come to its end. False if the stream is to tell so. */
export function giveBody(channel: Channel, taking: Taking): boolean {
    const { taker, resource, body: bytes } = taking;
    const req = channel.body;
    if (req === null || bytes === null || listens(req) || !resource.runInAsyncScope(parse, null, taker, bytes)) {
        giveBack(channel);
        return false;
    }
    channel.taking = null;
    channel.endBody();
    req.complete = true;
    const readable = (req as unknown as RequestState)._readableState;
    readable.ended = true;
    readable.endEmitted = true;
    try {
        resource.runInAsyncScope(done, null, taker);
    } finally {
        close(req, readable);
    }
    return true;
}

/** The body goes into the stream after all, to which the taker listens from now on. */
export function giveBack(channel: Channel): void {
    const { taking, body: req } = channel;
    if (taking === null) return;
    channel.taking = null;
    const { taker, resource, body } = taking;
    if (req !== null) (req as unknown as RequestState)._consuming = false;
    resource.runInAsyncScope(read, null, taker);
    if (body !== null && req !== null) req.push(body);
}

/** A stream that has ended destroys itself. */
function close(req: NodeRequest, readable: RequestState["_readableState"]): void {
    if (readable.destroyed) return;
    if (listens(req)) {
        req.destroy();
        return;
    }
    readable.destroyed = true;
    readable.closed = true;
    readable.closeEmitted = true;
}

function parse(taker: BodyTaker, body: Buffer): boolean {
    return taker.parse(body);
}

function done(taker: BodyTaker): void {
    taker.done();
}

function read(taker: BodyTaker): void {
    taker.read();
}
