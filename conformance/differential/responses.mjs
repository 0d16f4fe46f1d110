// Sends the response cases of the corpus through the gateway, whole and cut in two at every byte boundary: what is sound
// reaches the client as it is, what is not becomes 502 or a reply that is visibly cut, and a connection that it came on
// never answers another request.
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { bytes } from "./corpus.mjs";
import { parse } from "./reply.mjs";

/** Longer cases are cut at so many places. */
const CUTS_MAX = 64;
/** Cases that end in silence cost the wait for it. */
const CUTS_OF_WAITING_MAX = 4;
const QUIET_MS = 40;
/** A failure is believed when it shows again with this much patience. */
const QUIET_MS_AGAIN = 1_000;
/** How long a case may take that ends of itself. */
const PATIENCE_MS = 5_000;
const PROBE = "GET PLACE/probe HTTP/1.1\r\nHost: a\r\n\r\n";
const PROBED = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nprobe";

/** A client's CONNECT goes no further than a route that names it. */
export const isReplayed = ({ method }) => method !== "CONNECT";

/** A server that answers what it is told to; `tainted` connections are those that must not be used again. */
export async function startUpstream() {
    const server = { play: undefined, misused: 0, tainted: new Set(), sockets: new Set() };
    const listener = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
        server.sockets.add(socket);
        socket.on("close", () => server.sockets.delete(socket));
        socket.on("error", () => socket.destroy());
        let held = "";
        socket.on("data", async (data) => {
            held += data.toString("latin1");
            if (!held.includes("\r\n\r\n")) return;
            const isProbe = held.split("\r\n", 1)[0].includes("/probe");
            held = "";
            if (server.tainted.has(socket)) server.misused += 1;
            if (isProbe) return void socket.write(PROBED);
            const { parts, eof, taints } = server.play;
            if (taints) server.tainted.add(socket);
            for (const [index, part] of parts.entries()) {
                if (index > 0) await new Promise((next) => setTimeout(next, 1));
                if (!socket.destroyed) socket.write(part);
            }
            if (eof) socket.end();
        });
        socket.on("end", () => socket.end());
    });
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    server.port = listener.address().port;
    server.close = () => {
        listener.close();
        for (const socket of server.sockets) socket.destroy();
    };
    return server;
}

/**
 * Resolves to `{ exchanges, failures }`. `places` are `{ port, prefix, upstream }`: requests for a path below `prefix` go
 * to that upstream. One case at a time is sent at each.
 */
export async function replayResponses(places, cases) {
    const jobs = cases.flatMap((one) => [undefined, ...cuts(one)].map((cut) => ({ one, cut })));
    const failures = [];
    let next = 0;
    const work = async (place) => {
        while (next < jobs.length) {
            const job = jobs[next];
            next += 1;
            const suspicious = await run(place, job, QUIET_MS);
            const failure = suspicious && (await run(place, job, QUIET_MS_AGAIN));
            if (failure) failures.push({ name: job.one.name, cut: job.cut, ...failure });
        }
    };
    await Promise.all(places.map(work));
    return { exchanges: jobs.length, failures };
}

function cuts({ bytes: { length }, compatible }) {
    const count = Math.min(Math.max(length - 1, 0), waits(compatible) ? CUTS_OF_WAITING_MAX : CUTS_MAX);
    return Array.from({ length: count }, (_, index) => 1 + Math.floor((index * (length - 1)) / count));
}

const waits = (outcome) => "incomplete" in outcome.at(-1);
const isTunnel = (outcome) => outcome.some(({ accept }) => accept?.tunnel);

async function run({ port, prefix, upstream }, { one, cut }, quietMs) {
    const { compatible: outcome, method, eof } = one;
    const parts = cut === undefined ? one.pieces : [one.bytes.subarray(0, cut), one.bytes.subarray(cut)];
    const taints = outcome.some((entry) => "rest" in entry || "refuse" in entry);
    upstream.play = { parts, eof, taints };
    const before = upstream.misused;
    const upgrade = outcome.some(({ accept }) => accept?.status === 101) ? "Connection: upgrade\r\nUpgrade: websocket, x\r\n" : "";
    const client = open(port);
    client.socket.write(`${method} ${prefix}/ HTTP/1.1\r\nHost: a\r\n${upgrade}\r\n`);
    // Taken as a whole, a case is watched until it is silent: there may be more than there should. So is one whose end says
    // nothing; what comes behind a response must have come, or it could not be told from the answer to the next request.
    const untilSilent = cut === undefined || waits(outcome) || isTunnel(outcome) || outcome.some((entry) => "rest" in entry);
    const isAnswered = (held) => parse(held, method).some(({ status, whole }) => whole && !(status < 200));
    await client.until(untilSilent ? () => false : isAnswered, untilSilent ? quietMs : PATIENCE_MS);
    const difference = compare(parse(client.held(), method), client.closed(), outcome);
    if (!client.closed() && !waits(outcome) && !isTunnel(outcome)) await probe(client, prefix);
    client.socket.destroy();
    const other = open(port);
    const probed = await probe(other, prefix);
    other.socket.destroy();
    if (difference) return difference;
    if (!probed) return { expected: "another client gets its own reply", observed: other.held().toString("latin1").slice(0, 200) };
    if (upstream.misused > before) return { expected: "the upstream's connection is not used again", observed: "another request came over it" };
    return undefined;
}

async function probe(client, prefix) {
    const from = client.held().length;
    client.socket.write(PROBE.replace("PLACE", prefix));
    const fresh = () => parse(client.held().subarray(from), "GET");
    await client.until(() => fresh().at(-1)?.whole === true, PATIENCE_MS);
    return fresh().at(-1)?.body.toString("latin1") === "probe";
}

/** Compares what the client got with an outcome; undefined if they agree. */
export function compare(replies, closed, outcome) {
    const say = (expected) => ({ expected, observed: JSON.stringify({ replies: replies.map(({ status, whole, body }) => ({ status, whole, body: body.toString("latin1").slice(0, 40) })), closed }) });
    let at = 0;
    for (const entry of outcome) {
        const reply = replies[at];
        if ("accept" in entry) {
            const { status = 200, body, fields = [], tunnel } = entry.accept;
            if (reply?.status !== status || !reply.whole) return say(`${status}`);
            if (body !== undefined && !tunnel && !reply.body.equals(bytes(body))) return say(`the body ${JSON.stringify(body).slice(0, 80)}`);
            if (!holds(reply.fields, fields)) return say(`the fields ${JSON.stringify(fields)}`);
            at += 1;
        } else if ("refuse" in entry) {
            const isCut = closed && reply?.whole === false;
            if (!isCut && !(reply?.status === 502 && reply.whole)) return say(`502, or a reply that is cut (${entry.refuse})`);
            at += 1;
        } else if ("incomplete" in entry) {
            if (closed || reply?.whole) return say("a reply that is not whole, and a connection that waits");
            at += reply ? 1 : 0;
        } else if (isTunnel(outcome) && !replies[at - 1]?.body.equals(bytes(entry.rest))) {
            return say("the bytes behind the head, in the tunnel");
        }
    }
    return replies.length > at ? say("nothing more") : undefined;
}

/** Whether `wanted` stand in `fields` in this order. */
function holds(fields, wanted) {
    let from = 0;
    return wanted.every(([name, value]) => {
        if (/^(connection|keep-alive|transfer-encoding|te|upgrade|proxy-connection)$/i.test(name)) return true;
        const at = fields.findIndex((field, index) => index >= from && field[0] === name && field[1] === value);
        from = at + 1;
        return at !== -1;
    });
}

function open(port) {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    let held = Buffer.alloc(0);
    let closed = false;
    let changed = () => {};
    socket.on("data", (data) => {
        held = Buffer.concat([held, data]);
        changed();
    });
    for (const event of ["end", "error", "close"]) {
        socket.on(event, () => {
            closed = true;
            changed();
        });
    }
    /** Waits until `enough(held)`, the end, or silence of `quietMs`. */
    const until = (enough, quietMs) =>
        new Promise((resolve) => {
            let timer;
            const look = () => {
                clearTimeout(timer);
                if (closed || enough(held)) {
                    changed = () => {};
                    resolve();
                } else timer = setTimeout(resolve, quietMs);
            };
            changed = look;
            look();
        });
    return { socket, until, held: () => held, closed: () => closed };
}
