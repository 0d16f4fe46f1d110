// Plays requests of the corpus to node:http and to leat/http, and tells where one serves what the other refuses.
import { readdirSync, readFileSync } from "node:fs";
import { once } from "node:events";
import net from "node:net";

const corpus = new URL("../../../../corpus/h1/request/", import.meta.url);

/** Node waits on where it does not refuse; it is asked no longer than this, in milliseconds. */
const WAIT_MS_MAX = 1_000;
/** Cases that are played at the same time. */
const AT_ONCE = 24;

/** What the other side did with a case. */
export const REFUSED_BY_LEAT = "refused by Leat";
export const SERVED_BY_LEAT = "served by Leat";
export const ANSWERED_FIRST = "answered first by Leat";
export const OTHER_STATUS = "refused with another status";

/**
 * The cases whose outcome under `compatible` has a reply. Whether requests that came before a cut are still answered is not the
 * parser's matter but the sockets', and has its place in the differential table.
 */
function cases() {
    const all = readdirSync(corpus).flatMap((file) => JSON.parse(readFileSync(new URL(file, corpus), "utf8")));
    return all.filter(({ compatible, eof = false }) => compatible.some((entry) => !entry.incomplete) && !(eof && compatible.length > 1));
}

/** Plays all cases. Gives `[{ name, kind, reasons, statuses }]` of those that differ; `reasons` are those that the corpus allows. */
export async function differences(nodeHttp, leatHttp) {
    const [node, leat] = await Promise.all([serving(nodeHttp), serving(leatHttp)]);
    const found = [];
    const queue = cases();
    const worker = async () => {
        for (let one = queue.pop(); one !== undefined; one = queue.pop()) {
            const replies = one.compatible.filter((entry) => !entry.incomplete).length;
            const ours = await ask(leat, one, replies);
            const theirs = await ask(node, one, ours.length);
            const kind = compared(theirs, ours);
            if (kind) found.push({ name: one.name, kind, reasons: [one.compatible.at(-1).refuse ?? []].flat(), statuses: { node: theirs, leat: ours } });
        }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    for (const server of [node, leat]) {
        server.closeAllConnections();
        server.close();
    }
    return found;
}

async function serving({ createServer }) {
    const server = createServer(async (request, response) => {
        try {
            for await (const part of request) void part;
        } catch {
            return;
        }
        response.end("served");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return server;
}

/** The statuses of final replies, up to `wanted` of them, the first refusal, or the connection's end. */
function ask(server, { pieces, eof }, wanted) {
    return new Promise((resolve) => {
        const socket = net.connect({ port: server.address().port, host: "127.0.0.1", allowHalfOpen: true });
        let text = "";
        const done = () => {
            clearTimeout(timer);
            socket.destroy();
            resolve(statuses(text));
        };
        const timer = setTimeout(done, WAIT_MS_MAX);
        socket.setEncoding("latin1");
        socket.on("data", (part) => {
            text += part;
            const seen = statuses(text);
            if (seen.length >= wanted || seen.some((status) => status >= 400)) done();
        });
        // The end of the other side is what is looked for; how it came does not matter.
        socket.on("error", () => {});
        socket.on("end", done);
        socket.on("close", done);
        for (const piece of pieces) socket.write(typeof piece === "string" ? piece : piece.repeat.repeat(piece.times), "latin1");
        if (eof) socket.end();
    });
}

const statuses = (text) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)).filter((status) => status >= 200);

function compared(theirs, ours) {
    const [their, our] = [theirs.find((status) => status >= 400), ours.find((status) => status >= 400)];
    if (our !== undefined && their === undefined) return REFUSED_BY_LEAT;
    if (our === undefined && their !== undefined) return SERVED_BY_LEAT;
    if (our !== their) return OTHER_STATUS;
    if (ours.length > theirs.length) return ANSWERED_FIRST;
    return undefined;
}
