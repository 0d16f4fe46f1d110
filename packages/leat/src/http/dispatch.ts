// Records from the engine become calls: each in the async context that Node would run it in, and each with its own
// error boundary.
import { AsyncResource } from "node:async_hooks";
import { lane, openLane, takeBody, type Reason } from "../native/lane";
import {
    CLOSED,
    DATA,
    DATA_OWN_SLAB,
    END,
    END_FIELDS_AT,
    EOF,
    FAULT,
    GONE,
    H2,
    HAS_BODY,
    OPEN,
    OPEN_H2,
    OPEN_IPV6,
    OPEN_TLS,
    OPEN_UNIX,
    PART,
    PART_BYTES_AT,
    PART_PLACE_AT,
    PART_TOTAL_AT,
    REQUEST,
    UNSHAKEN,
    WRITABLE,
} from "../native/records";
import { Slab } from "../native/slab";
import { giveBack, giveBody, keepBody } from "./body";
import { Channel, exchanges, type Facts, type Handshake, Mode } from "./channel";
import { answerMissingHost, clientError, handshakeError, isLasting, resetError, socketErrored } from "./client_error";
import { type Core } from "./core";
import { ageDate } from "./date";
import { knowNames } from "./incoming";
import { enterCall, leaveCall, settle } from "./lifecycle";
import { knowMethods, serve } from "./serve";

/** Servers by the engine's id. */
const servers = new Map<number, Core>();
/** Connections by the engine's id. */
const connections = new Map<number, Channel>();

let reasons: Reason[] = [];
let opened = false;

/** Opens this thread's lane for HTTP. */
export function open(): void {
    if (opened) return;
    const native = openLane(receive, settleTurn);
    knowNames(native.names());
    knowMethods(native.methods());
    reasons = native.reasons();
    opened = true;
}

/** Makes `core` receive what comes for server `id`. */
export function attach(core: Core, id: number): void {
    core.id = id;
    servers.set(id, core);
}

/** Forgets a server that stopped listening and has no connections. */
export function detach(core: Core): void {
    if (core.closed && core.channels.size === 0) servers.delete(core.id);
}

function settleTurn(): void {
    settle();
    leave();
    ageDate();
}

/** Exchanges whose client has gone, as this turn told. */
let leaving: { channel: Channel; exchange: number; reason: Reason | undefined }[] = [];

/**
 * Ends them at the end of the turn: a client that ended its side right behind its request still gets what ticks and
 * promises answer, as on Node, which reads the end by itself.
 */
function leave(): void {
    if (leaving.length === 0) return;
    const gone = leaving;
    leaving = [];
    for (const { channel, exchange, reason } of gone) {
        if (channel.exchange !== exchange || channel.mode === Mode.Closed) continue;
        // Answered in this turn: what the client sent behind the request, ahead of its end, is served too.
        if (reason?.code === "peer.ended" && channel.mode === Mode.Http && channel.replyDone && !channel.endWaits) continue;
        (channel.resource ?? channel.core.resource).runInAsyncScope(leaveOne, null, channel, reason);
    }
}

function leaveOne(channel: Channel, reason: Reason | undefined): void {
    try {
        onGone(channel, reason);
    } catch (error) {
        fatal(error);
    }
}

function receive(slab: Slab, from: number, end: number): void {
    let at = from;
    while (at < end) {
        const core = coreOf(slab, at);
        // Something late for what is over.
        if (core === undefined) at = skip(slab, at);
        else at = core.resource.runInAsyncScope(receiveFor, null, core, slab, at, end);
    }
}

/** Passes over a record that came too late; gives the next one's place. */
function skip(slab: Slab, at: number): number {
    if ((slab.word(at) & 0xff) === DATA) bytesOf(slab, at);
    if (long.size > 0) long.delete(slab.word(at + 2));
    return at + slab.word(at + 1);
}

/** The bytes of a piece of a body. */
function bytesOf(slab: Slab, at: number): Buffer {
    const length = slab.word(at + 4);
    return slab.word(at) >>> 8 === DATA_OWN_SLAB ? takeBody(slab.word(at + 3), length) : slab.copy(slab.word(at + 3), length);
}

/** The connection of the request that was looked at last. */
let asked: Channel | undefined;

/** The server that the record at word `at` is for. */
function coreOf(slab: Slab, at: number): Core | undefined {
    switch (slab.word(at) & 0xff) {
        case OPEN:
            return servers.get(slab.word(at + 3));
        case UNSHAKEN:
            return servers.get(slab.word(at + 2));
        case REQUEST:
            return (asked = connections.get(slab.word(at + 3)))?.core;
        case FAULT:
        case PART:
            return connections.get(slab.word(at + 3))?.core;
        case CLOSED:
            return connections.get(slab.word(at + 2))?.core;
        default:
            return exchanges.get(slab.word(at + 2))?.core;
    }
}

/** Node leaves every async context when an error is reported as uncaught. */
let contextLost = false;

/** Reports an error that a listener threw as uncaught, in the context that it was thrown in. Ends the process, or returns. */
function fatal(error: unknown): void {
    contextLost = true;
    lane().fatal(error);
}

/** Handles records of one server, in its context, as long as that lasts. */
function receiveFor(core: Core, slab: Slab, from: number, end: number): number {
    let at = from;
    while (at < end) {
        const next = at + slab.word(at + 1);
        if (at !== from && coreOf(slab, at) !== core) return at;
        try {
            handle(core, slab, at);
            // Node's parser lets ticks and promises run after each part of a body, before it tells what comes next.
            if (next < end && (slab.word(at) & 0xff) === DATA) runTicks();
        } catch (error) {
            fatal(error);
        }
        at = next;
        if (contextLost) {
            contextLost = false;
            return at;
        }
    }
    return at;
}

function handle(core: Core, slab: Slab, at: number): void {
    const word = slab.word(at);
    const id = slab.word(at + 2);
    switch (word & 0xff) {
        case REQUEST:
            onRequest(slab, at, word >>> 8);
            break;
        case OPEN:
            onOpen(core, slab, at, word >>> 8);
            break;
        case CLOSED:
            onClosed(connections.get(id), reasons[slab.word(at + 3)]);
            break;
        case UNSHAKEN:
            onUnshaken(core, slab, at, word >>> 8);
            break;
        case PART:
            onPart(core, slab, at);
            break;
        case FAULT:
            onFault(connections.get(slab.word(at + 3)), slab, at);
            break;
        default:
            onExchange(exchanges.get(id), slab, at, word & 0xff);
    }
}

/** Requests whose records are longer than a slab, as far as they have come, by their exchange. */
const long = new Map<number, Slab>();

function onPart(core: Core, slab: Slab, at: number): void {
    const exchange = slab.word(at + 2);
    const total = slab.word(at + PART_TOTAL_AT);
    const place = slab.word(at + PART_PLACE_AT);
    const from = slab.word(at + PART_BYTES_AT);
    const until = (at + slab.word(at + 1)) << 2;
    const whole = place === 0 ? new Slab(total) : long.get(exchange);
    if (whole === undefined) return;
    slab.bytes.copy(whole.bytes, place, from, until);
    if (place + until - from < total) {
        long.set(exchange, whole);
        return;
    }
    long.delete(exchange);
    // Looked up as for any request.
    if (coreOf(whole, 0) === core) handle(core, whole, 0);
}

function runTicks(): void {
    (process as unknown as { _tickCallback?: () => void })._tickCallback?.();
}

/** Records of an exchange run in its context. */
function onExchange(channel: Channel | undefined, slab: Slab, at: number, kind: number): void {
    if (channel === undefined) return;
    const { resource } = channel;
    if (resource === null) toExchange(channel, slab, at, kind);
    else resource.runInAsyncScope(toExchange, null, channel, slab, at, kind);
}

function toExchange(channel: Channel, slab: Slab, at: number, kind: number): void {
    try {
        continueExchange(channel, slab, at, kind);
    } catch (error) {
        fatal(error);
    }
}

function continueExchange(channel: Channel, slab: Slab, at: number, kind: number): void {
    switch (kind) {
        case DATA:
            onData(channel, slab, at);
            break;
        case END:
            onEnd(channel, slab, at);
            break;
        case WRITABLE:
            channel.taken();
            break;
        case EOF:
            channel.ended = true;
            channel.giveHead(Buffer.alloc(0));
            channel.socket.push(null);
            channel.socket.read(0);
            // After bytes that were no request Node's server ends its side too.
            if (channel.faulty) channel.socket.end();
            else channel.rest();
            break;
        case GONE:
            leaving.push({ channel, exchange: channel.exchange, reason: reasons[slab.word(at + 3)] });
            break;
        default:
    }
}

function onRequest(slab: Slab, at: number, flags: number): void {
    // Found by coreOf, which is asked about every record first.
    const connection = asked;
    asked = undefined;
    if (connection === undefined) return;
    const exchange = slab.word(at + 2);
    const channel = (flags & H2) === 0 ? connection : new Channel(connection.core, connection.id, connection.facts, true);
    if (channel.mode === Mode.Closed || connection.mode === Mode.Closed) {
        channel.refuse(exchange);
        return;
    }
    channel.open(exchange, (flags & HAS_BODY) !== 0);
    const resource = new AsyncResource("HTTPINCOMINGMESSAGE");
    channel.resource = resource;
    if (channel !== connection) {
        connection.hasStreamed = true;
        connection.core.channels.add(channel);
    }
    resource.runInAsyncScope(serveOne, null, channel, slab, at, flags);
    if (!channel.done && channel.mode === Mode.Http) channel.register();
    else if (channel !== connection) connection.core.channels.delete(channel);
}

function serveOne(channel: Channel, slab: Slab, at: number, flags: number): void {
    enterCall();
    try {
        serve(channel, slab, at, flags);
    } catch (error) {
        fatal(error);
    } finally {
        leaveCall();
    }
}

function onData(channel: Channel, slab: Slab, at: number): void {
    const chunk = bytesOf(slab, at);
    const { length } = chunk;
    if (channel.mode === Mode.Opaque) {
        if (channel.refusal !== null) refuseMore(channel, channel.refusal, chunk);
        else if (channel.giveHead(chunk)) channel.socket.countRead(length);
        else channel.socket.receive(chunk);
        return;
    }
    channel.socket.countRead(length);
    const { body, taking } = channel;
    if (taking !== null && keepBody(channel, taking, chunk)) {
        // Nobody is told yet.
    } else if (body !== null && !(body as unknown as { _dumped: boolean })._dumped && !body.push(chunk)) channel.socket.pause();
    channel.consumed(length);
}

/** Node's parser finds the same wrong in every piece that follows what it has refused, and the server tells of each. */
function refuseMore(channel: Channel, refusal: (packet: Buffer) => Error | undefined, packet: Buffer): void {
    const { socket } = channel;
    socket.countRead(packet.length);
    channel.consumed(packet.length);
    const error = socket.destroyed ? undefined : refusal(packet);
    if (error !== undefined) socketErrored.call(socket, error);
}

function onEnd(channel: Channel, slab: Slab, at: number): void {
    const { body, taking } = channel;
    const count = slab.word(at + 3);
    if (taking !== null) {
        if (count > 0) giveBack(channel);
        else if (giveBody(channel, taking)) return;
    }
    channel.endBody();
    if (body === null) return;
    body.complete = true;
    if (count > 0) {
        (body as unknown as { _addHeaderLines(fields: string[], count: number): void })._addHeaderLines(slab.rawFields(at + END_FIELDS_AT, count), count << 1);
    }
    body.push(null);
}

function onGone(channel: Channel, reason: Reason | undefined): void {
    channel.giveHead(Buffer.alloc(0));
    const { socket, body, exchange, mode, res } = channel;
    const server = channel.core.server as unknown as { httpAllowHalfOpen?: boolean };
    if (server.httpAllowHalfOpen === true && res !== null && reason?.code === "peer.ended" && mode === Mode.Http && (body === null || body.complete)) {
        // The client may still read: the reply is the last one.
        (res as unknown as { _last: boolean })._last = true;
        return;
    }
    channel.lost();
    if (channel.h2) {
        channel.core.channels.delete(channel);
        detach(channel.core);
    } else if (reason?.code === "peer.reset") {
        socket.destroy(resetError());
    } else if (reason !== undefined && reason.code !== "lane.aborted" && mode === Mode.Http) {
        const error = clientError(reason, undefined);
        if (error !== undefined) socketErrored.call(socket, error);
        // A peer that goes in the middle of a body is an error to Node, elsewhere it is the end.
        else if (body !== null && !body.complete) socket.destroy(resetError());
    }
    socket.destroy();
    // The engine waits for this, so that what was said before is not lost.
    channel.refuse(exchange);
}

function onOpen(core: Core, slab: Slab, at: number, flags: number): void {
    const id = slab.word(at + 2);
    const facts = factsOf(slab, at, flags);
    const channel = new Channel(core, id, facts, false);
    const { socket } = channel;
    const server = core.server as unknown as { maxConnections?: number; _connections: number };
    connections.set(id, channel);
    if (server.maxConnections && server._connections >= server.maxConnections) {
        const { remoteAddress, remotePort, localAddress, localPort, family } = facts;
        socket.destroy();
        core.server.emit("drop", facts.local ? undefined : { localAddress, localPort, localFamily: family, remoteAddress, remotePort, remoteFamily: family });
        return;
    }
    channel.holdProcess();
    core.channels.add(channel);
    server._connections++;
    const owned = socket as unknown as { server: unknown; _server: unknown };
    owned.server = owned._server = core.server;
    if (core.server.timeout) socket.setTimeout(core.server.timeout);
    new AsyncResource("TCPWRAP").runInAsyncScope(announce, null, core, socket);
}

/** Its socket is there for who wants to know where it came from, and is destroyed. */
function onUnshaken(core: Core, slab: Slab, at: number, flags: number): void {
    const textAt = slab.word(at + 5);
    const remote = slab.word(at + 6);
    const local = slab.word(at + 7);
    const code = slab.word(at + 8);
    const isLocal = (flags & OPEN_UNIX) !== 0;
    const channel = new Channel(core, 0, {
        remoteAddress: slab.text(textAt, remote),
        remotePort: slab.word(at + 3),
        localAddress: slab.text(textAt + remote, local),
        localPort: slab.word(at + 4),
        family: isLocal ? undefined : (flags & OPEN_IPV6) !== 0 ? "IPv6" : "IPv4",
        local: isLocal,
        tls: true,
        serverName: "",
        alpn: "",
        h2: false,
        handshake: undefined,
    }, false);
    channel.lost();
    const codeAt = textAt + remote + local;
    const error = handshakeError(slab.text(codeAt, code), slab.text(codeAt + code, slab.word(at + 9)));
    new AsyncResource("TLSWRAP").runInAsyncScope(tellUnshaken, null, core, channel.socket, error);
}

function tellUnshaken(core: Core, socket: Channel["socket"], error: Error): void {
    socket.removeListener("error", socketErrored);
    socket.destroy();
    core.server.emit("tlsClientError", error, socket);
}

function announce(core: Core, socket: Channel["socket"]): void {
    core.server.emit("connection", socket);
    if (core.tls && !socket.destroyed) core.server.emit("secureConnection", socket);
}

function factsOf(slab: Slab, at: number, flags: number): Facts {
    const textAt = slab.word(at + 6);
    const remote = slab.word(at + 7);
    const local = slab.word(at + 8);
    const name = slab.word(at + 9);
    const isLocal = (flags & OPEN_UNIX) !== 0;
    const tls = (flags & OPEN_TLS) !== 0;
    const afterNames = textAt + remote + local + name + slab.word(at + 10);
    return {
        remoteAddress: slab.text(textAt, remote),
        remotePort: slab.word(at + 4),
        localAddress: slab.text(textAt + remote, local),
        localPort: slab.word(at + 5),
        family: isLocal ? undefined : (flags & OPEN_IPV6) !== 0 ? "IPv6" : "IPv4",
        local: isLocal,
        tls,
        serverName: slab.text(textAt + remote + local, name),
        alpn: slab.text(textAt + remote + local + name, slab.word(at + 10)),
        h2: (flags & OPEN_H2) !== 0,
        handshake: tls ? handshakeOf(slab, at, afterNames) : undefined,
    };
}

function handshakeOf(slab: Slab, at: number, textAt: number): Handshake {
    const version = slab.word(at + 11);
    const cipher = slab.word(at + 12);
    const problem = slab.word(at + 13);
    const certificate = slab.word(at + 14);
    const problemAt = textAt + version + cipher;
    return {
        version: slab.text(textAt, version),
        cipher: slab.text(textAt + version, cipher),
        problem: slab.text(problemAt, problem),
        certificate: certificate === 0 ? undefined : slab.copy(problemAt + problem, certificate),
    };
}

function onClosed(channel: Channel | undefined, reason: Reason | undefined): void {
    if (channel === undefined) return;
    const { core, mode } = channel;
    connections.delete(channel.id);
    core.channels.delete(channel);
    channel.gone = true;
    channel.releaseProcess();
    const byPeer = !channel.ending && mode === Mode.Http;
    const reset = !channel.ending && mode !== Mode.Closed && reason?.code === "peer.reset";
    channel.lost();
    detach(core);
    const context = channel.resource ?? core.resource;
    // What has arrived is still to be read; the stream ends by itself.
    if (mode === Mode.Opaque && (reason === undefined || reason.status === 0) && channel.ended && !channel.socket.readableEnded) return;
    context.runInAsyncScope(close, null, channel, reason, byPeer, reset);
}

/** Lets the socket end as it would have by itself. */
function close(channel: Channel, reason: Reason | undefined, byPeer: boolean, reset: boolean): void {
    const { socket } = channel;
    channel.giveHead(Buffer.alloc(0));
    if (socket.destroyed) return;
    if (socket.writableEnded && !socket.writableFinished) {
        socket.once("finish", () => socket.destroy());
        return;
    }
    if (reason?.code === "time.idle") {
        socket.emit("timeout");
    } else if (reset) {
        socket.destroy(resetError());
        return;
    } else if (byPeer && channel.res === null) {
        // Node's server ends its side by this event.
        socket.once("end", () => socket.end());
        socket.push(null);
        socket.resume();
        return;
    }
    socket.destroy();
}

function onFault(channel: Channel | undefined, slab: Slab, at: number): void {
    if (channel === undefined) return;
    const exchange = slab.word(at + 2);
    if (channel.mode === Mode.Closed) {
        // Its socket is gone, so nobody else would end the exchange.
        channel.refuse(exchange);
        return;
    }
    const reason = reasons[slab.word(at + 4)];
    const packet = slab.copy(slab.word(at + 5), slab.word(at + 6));
    channel.fault(exchange);
    const context = channel.resource ?? channel.core.resource;
    if (reason?.code === "host.missing") {
        context.runInAsyncScope(answerMissingHost, null, channel.socket);
        return;
    }
    const error = reason === undefined ? undefined : clientError(reason, packet);
    if (reason !== undefined && isLasting(error)) channel.refusal = (more) => clientError(reason, more);
    context.runInAsyncScope(failed, null, channel, error);
}

function failed(channel: Channel, error: Error | undefined): void {
    if (error === undefined) channel.socket.destroy();
    else socketErrored.call(channel.socket, error);
}
