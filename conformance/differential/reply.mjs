// Reads what a client got as replies, strictly: the gateway's own output has no excuse.

/**
 * The replies in `held` to one request with `method`, in order: `{ status, fields, body, whole }`. The last may not be
 * whole. What follows a 101 is its body.
 */
export function parse(held, method) {
    const replies = [];
    for (let at = 0; at < held.length; ) {
        const head = held.indexOf("\r\n\r\n", at);
        if (head === -1) {
            replies.push({ status: undefined, fields: [], body: Buffer.alloc(0), whole: false });
            break;
        }
        const [line, ...lines] = held.toString("latin1", at, head).split("\r\n");
        const status = /^HTTP\/1\.1 (\d{3}) /.exec(line);
        if (!status) {
            replies.push({ status: `not a status line: ${line.slice(0, 60)}`, fields: [], body: held.subarray(at), whole: true });
            break;
        }
        const fields = lines.map((field) => [field.slice(0, field.indexOf(":")), field.slice(field.indexOf(":") + 1).trim()]);
        const { body, end, whole } = frame(held, head + 4, Number(status[1]), fields, method);
        replies.push({ status: Number(status[1]), fields, body, whole });
        if (!whole) break;
        at = end;
    }
    return replies;
}

function frame(held, start, status, fields, method) {
    const value = (name) => fields.find(([own]) => own.toLowerCase() === name)?.[1];
    const none = { body: Buffer.alloc(0), end: start, whole: true };
    if (status === 101) return { body: held.subarray(start), end: held.length, whole: true };
    if (status < 200 || status === 204 || status === 304 || method === "HEAD") return none;
    if (value("transfer-encoding") !== undefined) return unchunk(held, start);
    const length = value("content-length");
    // Our gateway never lets a body end with the connection.
    if (length === undefined || !/^\d+$/.test(length)) return { body: held.subarray(start), end: held.length, whole: false };
    const end = start + Number(length);
    return { body: held.subarray(start, end), end, whole: held.length >= end };
}

function unchunk(held, start) {
    const parts = [];
    const cut = (end) => ({ body: Buffer.concat(parts), end, whole: false });
    for (let at = start; ; ) {
        const line = held.indexOf("\r\n", at);
        if (line === -1) return cut(held.length);
        const digits = held.toString("latin1", at, line);
        if (!/^[0-9a-fA-F]+$/.test(digits)) return cut(line);
        const size = Number.parseInt(digits, 16);
        if (size === 0) {
            const end = held.toString("latin1", line, line + 4) === "\r\n\r\n" ? line : held.indexOf("\r\n\r\n", line);
            return end === -1 ? cut(held.length) : { body: Buffer.concat(parts), end: end + 4, whole: true };
        }
        parts.push(held.subarray(line + 2, line + 2 + size));
        at = line + 2 + size + 2;
        if (held.length < at) return cut(held.length);
        if (held.toString("latin1", at - 2, at) !== "\r\n") return cut(at);
    }
}
