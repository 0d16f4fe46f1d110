// What some servers ask of each request, and most do not: messages of classes with a constructor of their own, and what tracing
// tools hear by channels. Requests of other servers never come here.
import { traced } from "../leat/traced";
import { constructing, IncomingMessage } from "./incoming";
import { type Line, servers } from "./line";
import { constructed, ServerResponse } from "./response";

interface Options {
    IncomingMessage?: unknown;
    ServerResponse?: unknown;
    rejectNonStandardBodyWrites?: boolean;
}

/** Whether requests of a server with these options come here. */
export function isParticular({ IncomingMessage: Request, ServerResponse: Reply, rejectNonStandardBodyWrites: strict }: Options): boolean {
    return strict === true || traced.http !== undefined || (Request !== undefined && Request !== IncomingMessage) || (Reply !== undefined && Reply !== ServerResponse);
}

traced.began = () => {
    for (const server of servers.values()) server._particular = true;
};

/** Makes the messages what the server wants them to be, before anybody sees them. */
export function particular(line: Line, req: IncomingMessage, res: ServerResponse): void {
    const { server } = line;
    const { IncomingMessage: Request, ServerResponse: Reply } = server._options;
    if (Request !== undefined && Request !== IncomingMessage) {
        // The head is there already; a constructor sees none, as by Node.
        const { url, method } = req;
        Object.assign(req, { url: "", method: null });
        constructing(req, () => new Request(line.socketOf(req)));
        Object.assign(req, { url, method });
    }
    if (Reply !== undefined && Reply !== ServerResponse) constructed(res, () => new Reply(req, { highWaterMark: server._options.highWaterMark, rejectNonStandardBodyWrites: server._strictBodies }));
    const { http: channels } = traced;
    if (channels === undefined) return;
    const { start, finish } = channels;
    const socket = line.socketOf(req);
    if (start.hasSubscribers) start.publish({ request: req, response: res, socket, server });
    res.prependListener("finish", () => {
        if (finish.hasSubscribers) finish.publish({ request: req, response: res, socket, server });
    });
}
