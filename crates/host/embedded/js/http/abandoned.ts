// Requests that nothing can answer any more. What was stopped, in a later turn than its request's, never comes to its end, and QuickJS
// can't say which request it was for. But what it held is garbage then: a response to which nothing refers but its connection is one
// that no program can end. So the connections let go of their responses, garbage is collected, and what is gone is answered.
import type { Line } from "./line";
import { http } from "./native";
import type { ServerResponse } from "./response";
import type { Socket } from "./socket";

/** A response that may be gone, and the places where its connection had it. */
interface Watched {
    readonly exchange: number;
    readonly line: Line;
    readonly response: WeakRef<ServerResponse>;
    readonly socket: WeakRef<Socket> | null;
    readonly hasBegun: boolean;
    readonly hasBody: boolean;
    readonly isCurrent: boolean;
    readonly isOpen: boolean;
    readonly isMessage: boolean;
}

/** While a response is watched, its socket lives as long as it does. */
const kSocket = Symbol("socket");

type Holder = { [kSocket]?: Socket };

/** Answers those of `exchanges` that nothing else can answer. */
export function abandon(exchanges: Map<number, ServerResponse>): void {
    // What listens to a socket may refer to the response, as that of on-finished does: sockets are let go of if nothing else helps, since
    // whoever listens to one that is gone hears nothing of its end.
    if (!look(exchanges, false)) look(exchanges, true);
}

/** Whether any was gone. */
function look(exchanges: Map<number, ServerResponse>, withSockets: boolean): boolean {
    const watched = letGo(exchanges, withSockets);
    http.collect();
    let found = false;
    for (const one of watched) {
        if (takeUp(exchanges, one)) continue;
        found = true;
        one.line.ending = true;
        http.abandon(one.exchange, one.hasBegun, one.hasBody);
    }
    return found;
}

/** Drops all that refers to responses which wait. */
function letGo(exchanges: Map<number, ServerResponse>, withSockets: boolean): Watched[] {
    const watched: Watched[] = [];
    for (const [exchange, res] of exchanges) {
        const line = res._line;
        if (line === null || exchange !== res._exchange) continue;
        const { socket } = line;
        watched.push({
            exchange,
            line,
            response: new WeakRef(res),
            socket: withSockets && socket !== null ? new WeakRef(socket) : null,
            hasBegun: res._headerSent || res._raw,
            hasBody: res.req.method !== "HEAD",
            isCurrent: line.current === res,
            isOpen: line.open === res,
            isMessage: socket?._httpMessage === res,
        });
        if (line.current === res) line.current = null;
        if (line.open === res) line.open = null;
        if (socket?._httpMessage === res) socket._httpMessage = null;
        if (withSockets && socket !== null) {
            (res as Holder)[kSocket] = socket;
            line.socket = null;
        }
    }
    for (const { exchange } of watched) exchanges.delete(exchange);
    return watched;
}

/** Puts a response back to where it was; false if it is gone. */
function takeUp(exchanges: Map<number, ServerResponse>, { exchange, line, response, socket, isCurrent, isOpen, isMessage }: Watched): boolean {
    const res = response.deref();
    if (socket !== null) line.socket = socket.deref() ?? null;
    if (res === undefined) return false;
    delete (res as Holder)[kSocket];
    exchanges.set(exchange, res);
    if (isCurrent) line.current = res;
    if (isOpen) line.open = res;
    if (isMessage && line.socket !== null) line.socket._httpMessage = res;
    return true;
}
