// What a case says it sends, as bytes and as what has to be waited for in between.

const REQUEST_LINE = /^([A-Za-z-]+) \S+ HTTP\/1\.[01]\r$/gm;

/**
 * A request as it goes over the wire, for what an object cannot say. Lines end with CRLF, the indentation that all lines
 * share is not sent, nor is the line break behind the opening backtick and what stands before the closing one. The empty
 * line that ends the last head is added where there is none. Values that are put in stay as they are.
 */
export function raw(strings, ...values) {
    const cooked = strings.map((text, at) => (at === 0 ? text.replace(/^\n/, "") : text));
    const last = cooked.length - 1;
    cooked[last] = cooked[last].replace(/\n[ \t]*$/, "\n");
    const indents = cooked.join("").split("\n").filter((line) => line.trim() !== "").map((line) => /^ */.exec(line)[0].length);
    const indent = new RegExp(`^ {0,${indents.length === 0 ? 0 : Math.min(...indents)}}`, "gm");
    const lines = cooked.map((text, at) => (at === 0 ? text.replace(indent, "") : text.replace(/\n( *)/g, (all) => all.replace(indent, ""))));
    const text = lines.map((line, at) => line.replaceAll("\n", "\r\n") + (at < values.length ? values[at] : "")).join("");
    const lastLine = [...text.matchAll(REQUEST_LINE)].at(-1)?.index ?? 0;
    return { raw: text.includes("\r\n\r\n", lastLine) ? text : `${text.replace(/\r\n$/, "")}\r\n\r\n` };
}

/** `/path` or `METHOD /path` as an object. */
function fromLine(line) {
    const [first, second] = line.split(" ");
    return second === undefined ? { path: first } : { method: first, path: second };
}

/**
 * A case's request as `{ parts, methods, given }`: what to send (bytes, `{ reply: text }` and `{ log: text }` to wait for),
 * the methods of the requests in it, and what was given. `last` says that nothing follows on its connection.
 */
export function compiled(request, last) {
    const given = typeof request === "string" ? fromLine(request) : Array.isArray(request) ? { raw: request } : request;
    if (given.raw === undefined) return { parts: object(given, last), methods: [given.method ?? "GET"], given };
    const parts = [given.raw].flat().map((part) => (typeof part === "string" ? bytes(part) : part.raw === undefined ? part : bytes(part.raw)));
    const text = parts.filter(Buffer.isBuffer).map((part) => part.toString("latin1")).join("");
    const methods = [...text.matchAll(REQUEST_LINE)].map(([, method]) => method);
    return { parts, methods: methods.length === 0 ? ["GET"] : methods, given };
}

function object({ method = "GET", path = "/", headers = {}, body, http = "1.1", connection }, last) {
    const fields = (Array.isArray(headers) ? headers : Object.entries(headers)).flatMap(([name, value]) => (value == null ? [] : [value].flat().map((one) => [name, one])));
    const named = (name) => (Array.isArray(headers) ? fields.some(([field]) => field.toLowerCase() === name) : Object.keys(headers).some((field) => field.toLowerCase() === name));
    if (!named("host")) fields.unshift(["Host", "test"]);
    if (!named("connection") && (connection === undefined || last)) fields.push(["Connection", "close"]);
    const chunked = Array.isArray(body);
    const payload = body === undefined || chunked ? undefined : bytes(body, "utf8");
    if (chunked && !named("transfer-encoding")) fields.push(["Transfer-Encoding", "chunked"]);
    if (payload !== undefined && !named("content-length") && !named("transfer-encoding")) fields.push(["Content-Length", payload.length]);
    const head = bytes(`${method} ${path} HTTP/${http}\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
    if (!chunked) return payload === undefined ? [head] : [Buffer.concat([head, payload])];
    return [head, ...body.map((part) => (typeof part === "string" || part instanceof Uint8Array ? chunk(bytes(part, "utf8")) : part)), bytes("0\r\n\r\n")];
}

const chunk = (data) => Buffer.concat([bytes(`${data.length.toString(16)}\r\n`), data, bytes("\r\n")]);

/** Text of a raw request and of heads is one byte a char where it can be, so that bytes above 0x7f can be said. */
function bytes(data, encoding = "latin1") {
    if (typeof data !== "string") return Buffer.from(data);
    return Buffer.from(data, /[^\x00-\xff]/.test(data) ? "utf8" : encoding);
}
