// A raw client: it sends the bytes of a script and keeps what comes back and how it ended.
import net from "node:net";
import tls from "node:tls";

export class Peer {
    /** Everything that was received, one char a byte. */
    text = "";
    /** How the server ended the connection: `open`, `FIN`, `RST`, or another error's code. */
    end = "open";
    /** Whether the script waited for that end, without which seeing it is a matter of luck. */
    endAwaited = false;
    /** How far the script has looked at what was received. */
    cursor = 0;
    #socket;

    constructor(socket, touched) {
        this.#socket = socket;
        socket.setNoDelay?.(true);
        const ended = (how) => {
            if (this.end === "open") this.end = how;
            touched();
        };
        socket.on("data", (bytes) => {
            this.text += bytes.toString("latin1");
            touched();
        });
        socket.on("end", () => ended("FIN"));
        socket.on("error", (error) => ended(error.code === "ECONNRESET" || error.code === "EPIPE" ? "RST" : error.code ?? error.message));
    }

    /** Connects to `where` (`{port, host}` or `{path}`), with TLS if `secure` holds its options. */
    static async connect(where, secure, touched) {
        const socket = secure ? tls.connect({ ...where, ...secure, rejectUnauthorized: false, allowHalfOpen: true }) : net.connect({ ...where, allowHalfOpen: true });
        const peer = new Peer(socket, touched);
        await new Promise((resolve) => {
            socket.once(secure ? "secureConnect" : "connect", resolve);
            socket.once("close", resolve);
        });
        return peer;
    }

    get socket() {
        return this.#socket;
    }

    send(data) {
        this.#socket.write(typeof data === "string" ? Buffer.from(data, "latin1") : data);
    }

    fin() {
        this.#socket.end();
    }

    reset() {
        this.#socket.resetAndDestroy();
    }

    /**
     * Tells a reset from an end once all is over: libuv takes a reset that comes together with bytes for an end, but a write
     * fails at once on what was reset, and not on what was ended. A program that has taken the connection over would read it.
     */
    async settle() {
        const socket = this.#socket;
        if (this.end !== "FIN" || socket.encrypted || !socket.writable || !this.text.startsWith("HTTP/1.1 ") || this.text.includes(" 101 ")) return;
        await new Promise((resolve) => {
            socket.write("x", (error) => {
                if (error) this.end = "RST";
                resolve();
            });
        });
    }

    pause() {
        this.#socket.pause();
    }

    resume() {
        this.#socket.resume();
    }

    destroy() {
        this.#socket.destroy();
    }
}
