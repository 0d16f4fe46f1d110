// Where a reply ends on the wire. Only as much HTTP as a script needs to know when to go on; it judges nothing.

/**
 * The offset behind the reply that starts at `from` in `text` (one char a byte), or -1 while it is not complete.
 * `bodiless` is for replies to HEAD. A reply without a length lasts until the peer has `ended`.
 */
export function replyEnd(text, from, { bodiless = false, ended = false } = {}) {
    const headEnd = text.indexOf("\r\n\r\n", from);
    if (headEnd === -1) return -1;
    const head = text.slice(from, headEnd + 2).toLowerCase();
    const status = Number(head.slice(9, 12));
    const body = headEnd + 4;
    if (bodiless || status < 200 || status === 204 || status === 304) return body;
    if (/\r\ntransfer-encoding:[^\r]*chunked/.test(head)) return chunkedEnd(text, body);
    const length = /\r\ncontent-length: *(\d+)/.exec(head);
    if (length === null) return ended ? text.length : -1;
    const end = body + Number(length[1]);
    return end <= text.length ? end : -1;
}

function chunkedEnd(text, body) {
    let at = body;
    for (;;) {
        const lineEnd = text.indexOf("\r\n", at);
        if (lineEnd === -1) return -1;
        const size = Number.parseInt(text.slice(at, lineEnd), 16);
        if (!(size > 0)) return trailersEnd(text, lineEnd + 2);
        at = lineEnd + 2 + size + 2;
        if (at > text.length) return -1;
    }
}

function trailersEnd(text, at) {
    if (text.startsWith("\r\n", at)) return at + 2;
    const end = text.indexOf("\r\n\r\n", at);
    return end === -1 ? -1 : end + 4;
}

/** `text` with every run of chunks made one line of its size: for bodies that are cut wherever the reads cut them. */
export function chunksJoined(text) {
    let joined = "";
    let at = 0;
    for (;;) {
        const head = text.indexOf("\r\n\r\n", at);
        if (head === -1) return joined + text.slice(at);
        joined += text.slice(at, head + 4);
        const chunked = /\r\ntransfer-encoding:[^\r]*chunked/i.test(text.slice(at, head + 2));
        at = replyEnd(text, at);
        if (at === -1) return joined + text.slice(head + 4);
        joined += chunked ? dechunked(text.slice(head + 4, at)) : text.slice(head + 4, at);
    }
}

function dechunked(body) {
    let data = "";
    for (let at = 0; ; ) {
        const lineEnd = body.indexOf("\r\n", at);
        const size = Number.parseInt(body.slice(at, lineEnd), 16);
        if (!(size > 0)) return `(chunks of ${data.length} bytes)\r\n${data}\r\n${body.slice(at)}`;
        data += body.slice(lineEnd + 2, lineEnd + 2 + size);
        at = lineEnd + 2 + size + 2;
    }
}
