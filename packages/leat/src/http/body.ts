// A small body as a whole, past the request's stream, for a middleware that would only collect it: when the middleware
// is called the body is mostly in the same batch of records, and a stream with its events costs as much as the request.
import { AsyncResource } from "node:async_hooks";
import { type IncomingMessage as NodeRequest, type ServerResponse as NodeResponse } from "node:http";
import { type Channel, Mode } from "./channel";
import { listens } from "./lifecycle";
import { kChannel, LeatSocket } from "./socket";

/** Who wants bodies of JSON as values. */
export interface BodyTaker {
    /** Whether a value must be an object or an array. */
    readonly strict: boolean;
    /** The value of a body; undefined if it is to come by the stream after all. */
    parse(body: Buffer): unknown;
    /** The body was taken, and the request's stream has ended. */
    done(req: NodeRequest, res: NodeResponse, next: Next, value: unknown): void;
    /** Listens to the stream: the body, or the lack of one, will be told there. */
    read(req: NodeRequest, res: NodeResponse, next: Next): void;
}

type Next = (error?: unknown) => void;

/** What a channel knows of the taker of its request's body. */
export interface Taking {
    readonly taker: BodyTaker;
    readonly req: NodeRequest;
    readonly res: NodeResponse;
    readonly next: Next;
    /** The async context in which the body was asked for. */
    readonly resource: AsyncResource;
    readonly bytes: number;
    body: Buffer | null;
}

/** The length of a body that is plain JSON; where the host can tell it without looking at fields one by one. */
export const jsonBytes: ((req: NodeRequest) => number) | undefined = undefined as ((req: NodeRequest) => number) | undefined;

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
export function takeBody(req: NodeRequest, bytes: number, taker: BodyTaker, res: NodeResponse, next: Next): boolean {
    const { socket } = req;
    if (!(socket instanceof LeatSocket)) return false;
    const channel = socket[kChannel];
    const state = req as unknown as RequestState;
    const readable = state._readableState;
    if (channel.body !== req || channel.bodyDone || channel.mode !== Mode.Http || channel.taking !== null) return false;
    if (listens(req) || state._consuming || state._dumped || readable.flowing !== null || req.readableEncoding !== null || readable.length !== 0 || readable.destroyed) return false;
    // As a stream that somebody reads.
    state._consuming = true;
    channel.taking = { taker, req, res, next, resource: new AsyncResource("LEATBODY"), bytes, body: null };
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
    const { resource, body: bytes } = taking;
    const req = channel.body;
    const value: unknown = req === null || bytes === null || listens(req) ? undefined : resource.runInAsyncScope(parse, null, taking.taker, bytes);
    if (req === null || value === undefined) {
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
        resource.runInAsyncScope(done, null, taking, value);
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
    if (req !== null) (req as unknown as RequestState)._consuming = false;
    taking.resource.runInAsyncScope(read, null, taking);
    if (taking.body !== null && req !== null) req.push(taking.body);
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

function parse(taker: BodyTaker, body: Buffer): unknown {
    return taker.parse(body);
}

function done({ taker, req, res, next }: Taking, value: unknown): void {
    taker.done(req, res, next, value);
}

function read({ taker, req, res, next }: Taking): void {
    taker.read(req, res, next);
}
