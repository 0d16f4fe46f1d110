// The client's end: Node's own HTTP client on real sockets, which notes every reply for the comparison of the targets.
import http from "node:http";
import net from "node:net";
import { once } from "node:events";
import { Readable } from "node:stream";

/** Fields whose value is another one each time, whoever answers. */
const CHANGING = new Set(["date", "set-cookie", "x-response-time", "sec-websocket-accept", "x-request-id"]);
const REPLY_MS = 10_000;

/** A client of one server; `log` receives what is comparable of each reply. */
export class Peer {
    /** @param {number} port  @param {object[]} log */
    constructor(port, log) {
        this.port = port;
        this.origin = `http://127.0.0.1:${port}`;
        this.log = log;
        this.agent = new http.Agent({ keepAlive: true });
        this.sockets = new Set();
    }

    get(path, headers = {}) {
        return this.request("GET", path, { headers });
    }

    /** Sends `body` as JSON. */
    json(method, path, body, headers = {}) {
        return this.request(method, path, { headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });
    }

    /** Sends a whole request and reads the whole reply; `body` may be text, bytes, or an iterable of chunks. */
    async request(method, path, { headers = {}, body } = {}) {
        const request = this.open(method, path, headers);
        if (body === undefined || typeof body === "string" || Buffer.isBuffer(body)) request.end(body);
        else Readable.from(body).pipe(request);
        const [response] = await once(request, "response");
        // A server that answered early may never read the rest of the body.
        request.on("error", () => {});
        const reply = await this.read(response, `${method} ${path}`);
        if (!request.writableFinished) request.destroy();
        return reply;
    }

    /** The `http.ClientRequest` itself, for tests that stop or read half-way. */
    open(method, path, headers = {}) {
        return http.request({ host: "127.0.0.1", port: this.port, method, path, headers, agent: this.agent, timeout: REPLY_MS }).on("timeout", function () {
            this.destroy(new Error(`no reply to ${method} ${path} in ${REPLY_MS} ms`));
        });
    }

    /** Reads a response to its end. */
    async read(response, request) {
        this.sockets.add(response.socket);
        const chunks = [];
        for await (const chunk of response) chunks.push(chunk);
        const reply = new Reply(response, Buffer.concat(chunks));
        this.note(request, response);
        return reply;
    }

    note(request, response) {
        const fields = [];
        for (let at = 0; at < response.rawHeaders.length; at += 2) {
            const [name, value] = response.rawHeaders.slice(at, at + 2);
            fields.push(`${name}: ${CHANGING.has(name.toLowerCase()) ? "…" : this.portless(value)}`);
        }
        this.log.push({ request: this.portless(request), status: response.statusCode, message: response.statusMessage, version: response.httpVersion, fields });
    }

    portless(text) {
        return text.replaceAll(String(this.port), "PORT");
    }

    /** Writes bytes to a new connection and gives everything that comes back until the other end closes it. */
    async raw(bytes) {
        const socket = net.connect(this.port, "127.0.0.1");
        socket.setTimeout(REPLY_MS, () => socket.destroy(new Error(`the connection was not closed in ${REPLY_MS} ms`)));
        socket.write(bytes);
        const chunks = [];
        for await (const chunk of socket) chunks.push(chunk);
        return Buffer.concat(chunks).toString("latin1");
    }

    close() {
        this.agent.destroy();
    }
}

/** A reply that has been read to its end. */
class Reply {
    constructor(response, bytes) {
        this.status = response.statusCode;
        this.headers = response.headers;
        this.trailers = response.trailers;
        this.socket = response.socket;
        this.bytes = bytes;
    }

    get text() {
        return this.bytes.toString();
    }

    get json() {
        return JSON.parse(this.text);
    }

    /** The cookies of the reply as a request sends them back. */
    get cookie() {
        return (this.headers["set-cookie"] ?? []).map((cookie) => cookie.split(";")[0]).join("; ");
    }
}
