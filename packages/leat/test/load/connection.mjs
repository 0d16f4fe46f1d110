// A raw HTTP/1.1 client of one connection: bytes out as they are given, replies back in order. It knows as much of the
// protocol as is needed to see where a reply ends.
import { connect } from "node:net";

const HEAD_BYTES_MAX = 64 * 1024;

/** The connection ended while a reply was owed; `code` is the socket error's or "FIN". `partial` is what had come of it. */
export class Cut extends Error {
    constructor(code, partial) {
        super(`the connection ended (${code}) before the reply did`);
        this.code = code;
        this.partial = partial;
    }
}

export class Connection {
    #socket;
    #pending = [];
    #owed = [];
    #bytes = Buffer.alloc(0);
    #ended;

    constructor(socket) {
        this.#socket = socket;
        /** Resolves to "FIN", or the code of the error that ended the connection. */
        this.closed = new Promise((resolve) => {
            let code = "FIN";
            socket.on("error", (error) => (code = error.code));
            socket.on("close", () => {
                this.#ended = code;
                this.#end(code);
                resolve(code);
            });
        });
        socket.on("data", (chunk) => {
            this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
            this.#take();
        });
        socket.setNoDelay(true);
    }

    /** Resolves when connected; rejects with the socket's error. `options` are those of net.connect. */
    static open(options) {
        return new Promise((resolve, reject) => {
            const socket = connect(typeof options === "number" ? { port: options, host: "127.0.0.1" } : options);
            socket.once("error", reject);
            socket.once("connect", () => {
                socket.off("error", reject);
                resolve(new Connection(socket));
            });
        });
    }

    get socket() {
        return this.#socket;
    }

    /** Sends `bytes`, which are `replies` whole requests; resolves to one reply, or an array of them if there are more. */
    send(bytes, { replies = 1, head = false } = {}) {
        const all = [];
        for (let i = 0; i < replies; i += 1) {
            all.push(new Promise((resolve, reject) => {
                if (this.#ended) reject(new Cut(this.#ended, ""));
                else this.#owed.push({ resolve, reject, head });
            }));
        }
        this.#socket.write(bytes);
        return replies === 1 ? all[0] : Promise.all(all);
    }

    get(path, fields = "") {
        return this.send(`GET ${path} HTTP/1.1\r\nhost: test\r\n${fields}\r\n`);
    }

    post(path, body, fields = "") {
        const bytes = Buffer.from(body);
        return this.send(Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\nhost: test\r\ncontent-length: ${bytes.length}\r\n${fields}\r\n`), bytes]));
    }

    /** Bytes without a reply of their own: a part of a request. */
    write(bytes) {
        this.#socket.write(bytes);
    }

    end() {
        this.#socket.end();
        return this.closed;
    }

    destroy() {
        this.#socket.destroy();
        return this.closed;
    }

    reset() {
        this.#socket.resetAndDestroy();
        return this.closed;
    }

    #take() {
        while (this.#bytes.length > 0) {
            const reply = this.#pending[0] ?? this.#head();
            if (reply === undefined) return;
            this.#pending[0] = reply;
            if (!this.#body(reply)) return;
            this.#pending.length = 0;
            if (reply.status >= 200 || reply.status === 101) this.#owed.shift()?.resolve(reply);
        }
    }

    #head() {
        const end = this.#bytes.indexOf("\r\n\r\n");
        if (end === -1) {
            if (this.#bytes.length > HEAD_BYTES_MAX) this.#socket.destroy();
            return undefined;
        }
        const lines = this.#bytes.toString("latin1", 0, end).split("\r\n");
        this.#bytes = this.#bytes.subarray(end + 4);
        const headers = {};
        for (const line of lines.slice(1)) {
            const colon = line.indexOf(":");
            headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
        }
        const status = Number(lines[0].slice(9, 12));
        const bodiless = status < 200 || status === 204 || status === 304 || this.#owed[0]?.head;
        const chunked = /chunked/i.test(headers["transfer-encoding"] ?? "");
        const left = bodiless ? 0 : chunked ? "chunked" : headers["content-length"] === undefined ? "close" : Number(headers["content-length"]);
        return { status, headers, line: lines[0], body: "", left, parts: [] };
    }

    /** Takes what is there of the body; true when it is whole. */
    #body(reply) {
        if (reply.left === "close") {
            reply.parts.push(this.#bytes);
            this.#bytes = Buffer.alloc(0);
            return false;
        }
        if (reply.left === "chunked") return this.#chunks(reply);
        const part = this.#bytes.subarray(0, reply.left);
        if (part.length > 0) reply.parts.push(part);
        this.#bytes = this.#bytes.subarray(part.length);
        reply.left -= part.length;
        if (reply.left > 0) return false;
        reply.body = Buffer.concat(reply.parts).toString("latin1");
        return true;
    }

    #chunks(reply) {
        for (;;) {
            const line = this.#bytes.indexOf("\r\n");
            if (line === -1) return false;
            const size = Number.parseInt(this.#bytes.toString("latin1", 0, line), 16);
            if (size === 0) {
                const rest = this.#bytes.toString("latin1", line);
                const end = rest.indexOf("\r\n\r\n");
                if (end === -1) return false;
                reply.trailers = rest.slice(2, end);
                this.#bytes = this.#bytes.subarray(line + end + 4);
                reply.body = Buffer.concat(reply.parts).toString("latin1");
                return true;
            }
            if (this.#bytes.length < line + 2 + size + 2) return false;
            reply.parts.push(this.#bytes.subarray(line + 2, line + 2 + size));
            this.#bytes = this.#bytes.subarray(line + 2 + size + 2);
        }
    }

    #end(code) {
        const reply = this.#pending[0];
        if (reply?.left === "close" && code === "FIN") {
            reply.body = Buffer.concat(reply.parts).toString("latin1");
            this.#owed.shift()?.resolve(reply);
        }
        const partial = this.#bytes.toString("latin1");
        for (const { reject } of this.#owed.splice(0)) reject(new Cut(code, partial));
    }
}
