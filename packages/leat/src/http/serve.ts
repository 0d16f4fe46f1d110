// One request from the engine: its messages, and the event that it becomes.
import { channel as diagnostics } from "node:diagnostics_channel";
import { METHODS, type IncomingMessage as NodeRequest, type Server, type ServerResponse as NodeResponse } from "node:http";
import { pushRecord } from "../native/lane";
import { CREDIT_BYTES, H2, HAS_BODY, KEEP_ALIVE, OUT_READ, REQUEST_FIELDS_AT, UPGRADE } from "../native/records";
import { type Slab } from "../native/slab";
import { type Channel, Mode } from "./channel";
import { parseError, socketErrored } from "./client_error";
import { type HeadState } from "./head";
import { EXPECT, HOST, IncomingMessage, methodText, notedFields, readHead, targetText } from "./incoming";
import { listens } from "./lifecycle";
import { kOptimizeEmptyRequests, kUniqueHeaders, NODE_MAJOR, nodeAssignSocket, NodeServerResponse } from "./node_symbols";
import { kLine, type ServerResponse, storeUnchunked } from "./response";
import { upgrade } from "./upgrade";

/** Fields that are taken by a server that was told nothing. */
const FIELDS_MAX = 1000;

const requestStart = diagnostics("http.server.request.start");

const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

let methods: string[] = [];
const known = new Set(METHODS);

/** Sets the methods that the engine knows by number. */
export function knowMethods(list: string[]): void {
    methods = list;
}

interface ServerState extends Server {
    joinDuplicateHeaders?: boolean | null;
    maxRequestsPerSocket: number;
    requireHostHeader: boolean;
}

interface RequestState {
    _consuming: boolean;
    _dumpAndCloseReadable(): void;
    _read(): void;
    _addHeaderLines(fields: string[], count: number): void;
}

interface ResponseState extends HeadState {
    [kLine]: Channel;
    socket: unknown;
}

/** Serves the request at word `at`, in the async context of its exchange. */
export function serve(channel: Channel, slab: Slab, at: number, flags: number): void {
    const { core, socket } = channel;
    const server = core.server as ServerState;
    const counts = slab.word(at + 4);
    const id = counts & 0xff;
    const method = id === 0 ? methodText(slab, at) : (methods[id] as string);
    if (socket.timeout !== undefined || server.timeout !== 0) restartTimeout(channel, server);
    if (id === 0 && !known.has(method) && !channel.h2) {
        refuse(channel, slab, at, "HPE_INVALID_METHOD", "Invalid method encountered", 1);
        return;
    }
    if (NODE_MAJOR >= 22 && ((counts >>> 8) & 0xffff) > fieldsMax(server) && !channel.h2) {
        refuse(channel, slab, at, "HPE_HEADER_OVERFLOW", "Header overflow", slab.word(at + 8));
        return;
    }
    const req = newRequest(channel, slab, at, flags, method);
    channel.req = channel.body = req;
    if ((flags & UPGRADE) !== 0) {
        const upgraded = upgrade(channel, server, req, method);
        // The engine has waited to hear what its bytes are.
        if ((flags & HAS_BODY) !== 0) pushRecord(OUT_READ, 0, channel.exchange, CREDIT_BYTES, 0);
        if (upgraded) return;
    }
    const res = newResponse(channel, server, req, flags);
    channel.res = res;
    if (requestStart.hasSubscribers) requestStart.publish({ request: req, response: res, socket, server });
    const bodiless = (flags & HAS_BODY) === 0;
    if (core.optimizesEmpty && bodiless && kOptimizeEmptyRequests !== undefined) {
        (req as unknown as RequestState)._dumpAndCloseReadable();
        channel.body = null;
    }
    channel.telling = true;
    try {
        request(channel, server, req, res, slab, at);
    } finally {
        channel.telling = false;
        if (bodiless) endBody(channel, req);
        core.makers.learn(req, res);
    }
}

function request(channel: Channel, server: ServerState, req: NodeRequest, res: NodeResponse, slab: Slab, at: number): void {
    if (req.httpVersionMinor === 1 || channel.h2) {
        const noted = notedFields(slab, at);
        if (!channel.h2 && server.requireHostHeader && (noted & HOST) === 0) {
            res.writeHead(400, ["Connection", "close"]);
            res.end();
            return;
        }
        const limit = server.maxRequestsPerSocket;
        if (typeof limit === "number" && limit > 0 && !channel.h2) {
            (res as unknown as HeadState).maxRequestsOnConnectionReached = limit <= channel.requests;
            if (limit < channel.requests) {
                server.emit("dropRequest", req, channel.socket);
                res.writeHead(503);
                res.end();
                return;
            }
        }
        if ((noted & EXPECT) !== 0) {
            expect(server, req, res);
            return;
        }
    }
    server.emit("request", req, res);
}

function expect(server: ServerState, req: NodeRequest, res: NodeResponse): void {
    if (CONTINUE.test(req.headers.expect ?? "")) {
        (res as unknown as HeadState)._expect_continue = true;
        if (server.listenerCount("checkContinue") > 0) {
            server.emit("checkContinue", req, res);
        } else {
            res.writeContinue();
            server.emit("request", req, res);
        }
    } else if (server.listenerCount("checkExpectation") > 0) {
        server.emit("checkExpectation", req, res);
    } else {
        res.writeHead(417);
        res.end();
    }
}

/** The request has no body. Its end is told when somebody reads, or at once if somebody already does. */
function endBody(channel: Channel, req: NodeRequest): void {
    req.complete = true;
    // A socket that the handler destroyed has read the request all the same.
    if (channel.body !== req || channel.mode === Mode.Opaque) return;
    if ((req as unknown as RequestState)._consuming || listens(req)) {
        channel.body = null;
        req.push(null);
    } else {
        channel.endOwed = true;
    }
}

function newRequest(channel: Channel, slab: Slab, at: number, flags: number, method: string): NodeRequest {
    const { core } = channel;
    const { makers } = core;
    const req = ((flags & UPGRADE) === 0 ? makers.request : makers.upgraded)(channel.socket);
    const counts = slab.word(at + 4);
    if ((flags & H2) !== 0) {
        req.httpVersionMajor = 2;
        req.httpVersionMinor = 0;
        req.httpVersion = "2.0";
    } else {
        const minor = counts >>> 24;
        req.httpVersionMajor = 1;
        req.httpVersionMinor = minor;
        req.httpVersion = minor === 1 ? "1.1" : `1.${minor}`;
    }
    (req as unknown as { joinDuplicateHeaders: unknown }).joinDuplicateHeaders = (core.server as ServerState).joinDuplicateHeaders ?? null;
    (req as unknown as { upgrade: boolean }).upgrade = (flags & UPGRADE) !== 0;
    req.method = method;
    const fields = (counts >>> 8) & 0xffff;
    const shown = Math.min(fields, fieldsMax(core.server));
    if (makers.ownRequest || !(req instanceof IncomingMessage)) {
        req.url = targetText(slab, at);
        (req as unknown as RequestState)._addHeaderLines(slab.rawFields(at + REQUEST_FIELDS_AT, fields), shown << 1);
    } else {
        channel.repeated = readHead(req, channel.repeated, slab, at, shown);
    }
    return req;
}

function newResponse(channel: Channel, server: ServerState, req: NodeRequest, flags: number): NodeResponse {
    const { core, socket } = channel;
    const res = core.makers.response(req, core.responseOptions);
    const state = res as unknown as ResponseState;
    state._keepAliveTimeout = server.keepAliveTimeout;
    state._maxRequestsPerSocket = server.maxRequestsPerSocket;
    state.shouldKeepAlive = (flags & KEEP_ALIVE) !== 0;
    state[kLine] = channel;
    const unique = (server as unknown as Record<symbol, unknown>)[kUniqueHeaders];
    if (unique != null) (res as unknown as Record<symbol, unknown>)[kUniqueHeaders] = unique;
    if (channel.h2) {
        state.useChunkedEncodingByDefault = true;
        state.shouldKeepAlive = true;
        (res as unknown as { _storeHeader: unknown })._storeHeader = storeUnchunked;
    }
    if (NodeServerResponse.prototype.assignSocket === nodeAssignSocket && !core.makers.ownResponse) {
        socket._httpMessage = res;
        channel.closeListeners = socket.listenerCount("close");
        state.socket = socket;
    } else {
        res.assignSocket(socket);
    }
    return res;
}

/** Node's server gives every request the server's timeout again. */
function restartTimeout(channel: Channel, server: ServerState): void {
    const { socket } = channel;
    if (server.timeout && channel.requests > 1 && !channel.h2) socket.setTimeout(server.timeout);
    else if (socket.timeout) (socket as unknown as { _unrefTimer(): void })._unrefTimer();
}

/** How many fields of a request a server takes, of which nought is no limit. Node 20 cuts off what is beyond, newer ones refuse. */
function fieldsMax(server: Server): number {
    const max = server.maxHeadersCount;
    return typeof max === "number" ? max || Infinity : FIELDS_MAX;
}

/** Says of a request what Node's parser would say of it, though the engine takes it. */
function refuse(channel: Channel, slab: Slab, at: number, code: string, words: string, parsed: number): void {
    const packet = slab.copy(slab.word(at + 7), slab.word(at + 8));
    channel.takeOver();
    const error = parseError(code, words, packet);
    error.bytesParsed = parsed;
    socketErrored.call(channel.socket, error);
}

export type { ServerResponse };
