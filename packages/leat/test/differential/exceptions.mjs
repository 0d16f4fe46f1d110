// Where leat/http differs from node:http: name of the case → what differs, and why; with `below` or `from`, only on Node's
// major versions below that or from it on; with `not`, on every target but that.
//
// A case that stands here and shows no difference any more fails, so that the list stays true.
const STRICT = "the engine refuses it (400)";
const IN_TURN = "pipelined requests are handed out one at a time, when the one before has its reply";
const UPGRADE_BODY = {
    from: 26,
    why: "not done yet: the body of a request that upgrades comes from the socket, ahead of what follows, as in older versions; now the request has it, and the socket only what follows",
};

const differs = {
    "heads: two Host fields": `${STRICT}: two readers may take different ones (RFC 9112 section 3.2)`,
    "heads: url with escapes stays as sent": `${STRICT}: a fragment is no part of a target (RFC 9112 section 3.2.1)`,
    "heads: url with a double slash and no path": `${STRICT}: a fragment is no part of a target (RFC 9112 section 3.2.1)`,
    "http10: a chunked body of the request": `${STRICT}: HTTP/1.0 has no codings (RFC 9112 section 6.1)`,
    "client-error: an unknown coding": `${STRICT} before a handler sees it; node:http serves it first, and finds out after the reply`,
    "malformed: an unknown coding": `${STRICT}; node:http serves it first, and finds out after the reply`,
    "connect: with a length, the body is in the head": `${STRICT}: CONNECT has no body (RFC 9110 section 9.3.6)`,
    "malformed: no version": `${STRICT}: HTTP/0.9 is not served`,
    "malformed: HTTP/0.9": `${STRICT}: HTTP/0.9 is not served`,
    "malformed: HTTP/2.0": `${STRICT}: HTTP/2 has another form`,
    "malformed: two spaces before the version": `${STRICT}: RFC 9112 section 3 has one space`,
    "malformed: a body longer than its length": "the engine judges a request line once it is whole; until then it waits, and headersTimeout ends that",
    "malformed: a target with bytes above 0x7f": "the engine lets them through as browsers send them; llhttp refuses them",
    "malformed: garbage right behind a request": `${IN_TURN}: the first reply is whole before the garbage is judged, which is answered too`,
    "malformed: too many small fields": { below: 22, why: "the ends of lines count for the size of a head (431), as in later versions" },
    "options: more than a thousand fields": { below: 22, why: "node:http drops some of `rawHeaders` unsaid; here all are there" },
    "malformed: insecureHTTPParser lets more through": { not: "embedded", why: "insecureHTTPParser is refused by name, since the engine has no lenient mode" },
    "options: insecureHTTPParser": "insecureHTTPParser is refused by name, since the engine has no lenient mode",
    "pipelining: all answered in reverse": IN_TURN,
    "pipelining: the second is seen while the first waits": IN_TURN,
    "pipelining: close in the middle": `${IN_TURN}: the reply before the end of the connection is sent; node:http has parsed what is behind it, and cuts that reply off`,
    "pipelining: HTTP/1.0 in the middle": `${IN_TURN}: the reply before the end of the connection is sent; node:http has parsed what is behind it, and cuts that reply off`,
    "expect: writeContinue after the end": { below: 24, why: "nothing is sent when no reply is owed: it would be taken for a part of the next; later versions throw" },
    "http10: keep-alive asked for and given": "HTTP/1.0 is kept open for a client that asks for it alone (RFC 9112 section 9.3)",
    "keep-alive: a reply that says keep-alive to a client that says close": "the client's close is obeyed (RFC 9112 section 9.6)",
    "keep-alive: Proxy-Connection: close": "Proxy-Connection means nothing (RFC 9112 appendix C.2.2)",
    "keep-alive: listeners on the socket don't pile up": "node:http's own listeners for reading are not there, since the engine reads; none pile up",
    "malformed: a bad chunk after the reply has ended": "the connection ends; a second reply to the same request is not sent",
    "upgrade: a POST that upgrades leaves its body in the head": UPGRADE_BODY,
    "upgrade: a chunked body is the head's as it is, framing and all": UPGRADE_BODY,
    "upgrade: bytes that come behind an announced body": UPGRADE_BODY,
};

const major = Number(process.versions.node.split(".")[0]);
const applies = ({ below = Infinity, from = 0 }) => major < below && major >= from;

/** Name of the case → why, on whatever Node: for the page of differences. */
export const everywhere = Object.fromEntries(
    Object.entries(differs).map(([name, value]) => {
        if (typeof value === "string") return [name, value];
        if (value.not !== undefined) return [name, value.why];
        const versions = value.below === undefined ? `Node ${value.from} and newer` : `before Node ${value.below}`;
        return [name, `${versions}: ${value.why}`];
    }),
);

/** Name of the case → why, for `target` and the Node that runs. */
export const exceptionsOf = (target) => Object.fromEntries(
    Object.entries(target === "leat" || target === "embedded" ? differs : {})
        .filter(([, value]) => typeof value === "string" || (applies(value) && value.not !== target))
        .map(([name, value]) => [name, typeof value === "string" ? value : value.why]),
);
