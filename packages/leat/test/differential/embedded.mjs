// Where `leat run` differs from node:http, beside exceptions.mjs: why → cases. One that differs no more fails, so that the list
// stays true. LEAT_CASE_OPEN=1 shows the differences.
const lists = {
    "most properties of messages stand on their prototype until somebody looks: an object with all of them takes longer than the rest of a request": [
        "heads: which properties a request has",
        "streams: what stream.isX says of the messages",
    ],
    "what is written leaves at once; Node.js keeps it to the end of the tick": ["bodies-out: writable properties through a reply's life"],
    "as Node.js 22, whose version it tells": ["write-head: a flat list on top of setHeader"],
    "an encoding that is none is found out before a byte of its chunk is sent; Node.js has sent the length, and the reply can't be read any more": ["bodies-out: an encoding that is none"],
    "nothing is sent where it would be taken for a part of the body; Node.js 24 throws": ["expect: writeContinue after the head goes into the body"],
    "another zlib: other bytes, which mean the same": ["streams: gzip out"],
    "it has no tls.connect, by which the program of the case is its own client": [
        "https: no version in common",
        "https: no certificate where one is required",
    ],
    "nothing takes certificates apart: its crypto has no X.509": ["https: what a TLSSocket can do"],
    "not done: connections that a program hands over by `server.emit(\"connection\", socket)`; so nobody listens to that event": [
        "connect: emitting connection by hand hands a socket over",
        "connect: no listener of request at all leaves the client waiting",
        "undocumented: names that http exports",
        "undocumented: what a server is",
    ],
    "replies go to the engine past `_send` and `_writeRaw`": ["undocumented: _send and _writeRaw replaced"],
    "an event that nobody listens to is not emitted, even if the program has replaced `emit`": ["undocumented: emit replaced on the reply"],
    "the stream says when it can be read as newer versions of readable-stream do": ["undocumented: emit replaced on the request"],
    "a request without a body is complete from the start": ["undocumented: on-finished's view"],
};

/** Names of cases that differ, with why. */
export const open = new Map(Object.entries(lists).flatMap(([why, names]) => names.map((name) => [name, why])));

/** Cases that were seen to differ where the machine was slow: in what order two things come that are not each other's cause. */
export const mayDiffer = new Set([
    "bodies-out: a large reply to a client that reads late",
    "streams: a Readable of 5 MB piped into the reply",
]);
