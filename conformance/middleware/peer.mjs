// The client's end, which notes what is comparable of each reply: status, every field, and the body.
import { createHash } from "node:crypto";
import { Peer as Client } from "../frameworks/peer.mjs";

const TEXT_BYTES_MAX = 4_096;
const STACK = /(<br> &nbsp; &nbsp;|\n +)at [^<\n]*/g;
/** Fields whose value is another one each time, whoever answers. */
const CHANGING = new Set(["date", "x-response-time", "sec-websocket-accept", "x-request-id", "ratelimit-reset", "x-ratelimit-reset", "ratelimit", "retry-after"]);

/** A client of one server. `changing` names more fields that cannot be compared, or `body` for bodies. */
export class Peer extends Client {
    constructor(port, log, changing = []) {
        super(port, log);
        this.changing = new Set([...CHANGING, ...changing]);
    }

    async read(response, request) {
        const reply = await super.read(response, request);
        const entry = this.log.at(-1);
        if (!this.changing.has("body")) entry.body = this.comparable(reply.bytes);
        // Whose files an error's stack names is no part of the reply's meaning, and changes its length.
        if (entry.body?.search(STACK) >= 0) Object.assign(entry, { body: entry.body.replaceAll(STACK, ""), fields: entry.fields.filter((field) => !field.startsWith("Content-Length:")) });
        return reply;
    }

    /** Fields without their order: Express' own is not part of its interface. */
    note(request, response) {
        const fields = [];
        for (let at = 0; at < response.rawHeaders.length; at += 2) fields.push(this.field(response.rawHeaders[at], response.rawHeaders[at + 1]));
        this.log.push({ request: this.portless(request), status: response.statusCode, message: response.statusMessage, version: response.httpVersion, fields: fields.sort() });
    }

    field(name, value) {
        const lower = name.toLowerCase();
        if (this.changing.has(lower)) return `${name}: …`;
        if (lower === "content-length" && this.changing.has("body")) return `${name}: …`;
        if (lower === "etag" && this.changing.has("body")) return `${name}: …`;
        if (lower === "set-cookie") return `${name}: ${value.replace(/(?<=^[^=]*=)[^;]{16,}/, "…").replace(/(?<=Expires=)[^;]+/i, "…")}`;
        return `${name}: ${this.portless(value)}`;
    }

    comparable(bytes) {
        if (bytes.length > TEXT_BYTES_MAX) return `${bytes.length} bytes ${createHash("sha256").update(bytes).digest("hex")}`;
        return this.portless(bytes.toString("latin1"));
    }
}
