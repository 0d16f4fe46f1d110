import { type IncomingMessage, type Server } from "node:http";
import { type Channel } from "./channel";
import { NODE_MAJOR } from "./node_symbols";

interface UpgradeServer extends Server {
    shouldUpgradeCallback?: (req: IncomingMessage) => unknown;
}

/**
 * Hands the connection of an upgrade or CONNECT to the server's listeners, with what the peer has sent behind the head.
 * False if the server goes on with HTTP.
 */
export function upgrade(channel: Channel, server: UpgradeServer, req: IncomingMessage, method: string): boolean {
    const message = req as unknown as { upgrade: boolean };
    const isConnect = method === "CONNECT";
    message.upgrade =
        isConnect || (server.shouldUpgradeCallback === undefined ? server.listenerCount("upgrade") > 0 : Boolean(server.shouldUpgradeCallback(req)));
    if (!message.upgrade) return false;
    const { socket } = channel;
    const event = isConnect ? "connect" : "upgrade";
    channel.req = channel.body = null;
    req.complete = true;
    req.push(null);
    // Node 20 emits 'upgrade' even if nobody listens any more.
    if ((event === "upgrade" && NODE_MAJOR < 22) || server.listenerCount(event) > 0) {
        socket.leaveHttp();
        // What is behind the head comes before the engine's word that it has taken the connection over.
        channel.onHead((head) => server.emit(event, req, socket, head));
    } else {
        socket.destroy();
    }
    return true;
}
