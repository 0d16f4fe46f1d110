// diagnostics_channel: what tracing tools subscribe to. Its channels belong to the process, so these run by themselves.
import channels from "node:diagnostics_channel";
import { get, logged, post, reply } from "../script.mjs";

const CHANNELS = ["http.server.request.start", "http.server.response.created", "http.server.response.finish"];

/** Subscribes while the server is open; logs each message of it. */
const watched = (name, handle, script, look = (message) => Object.keys(message).sort()) => ({
    name,
    serial: true,
    handle,
    setup(server, { log }) {
        for (const channel of CHANNELS) {
            const seen = (message) => {
                if ((message.server ?? message.request.socket.server) === server) log(channel, look(message, server));
            };
            channels.subscribe(channel, seen);
            server.once("close", () => channels.unsubscribe(channel, seen));
        }
    },
    script,
});

export const cases = [
    watched("start and finish, around the handler", (req, res, { log }) => {
        log("handler");
        res.on("finish", () => log("finish"));
        res.end("x");
    }, [get(), reply, logged("response.finish")]),
    watched("what the messages carry", (req, res) => res.end("x"), [get("/seen"), reply, logged("response.finish")], (message, server) => [message.request?.url, message.response?.statusCode, message.socket?.server === server, message.server === server]),
    watched("a body, written in parts", (req, res) => {
        req.resume();
        res.write("a");
        req.on("end", () => res.end("b"));
    }, [post("/", "x"), reply, logged("response.finish")]),
    watched("the status at the end", (req, res) => res.writeHead(404).end(), [get(), reply, logged("response.finish")], (message) => message.response.statusCode),
    watched("a listener that adds a field", (req, res) => res.end("x"), [get(), reply], (message) => {
        if (!message.response?.headersSent) message.response?.setHeader("X-Trace", "1");
        return "set";
    }),
    watched("two requests of a connection", (req, res) => res.end("x"), [get("/1"), reply, logged("response.finish"), get("/2"), reply, logged("response.finish", 2)], (message) => message.request.url),
    watched("a request without Host", (req, res) => res.end("x"), ["GET /nohost HTTP/1.1\r\n\r\n", reply, async (s) => {
        s.peer.endAwaited = true;
        await s.until(() => s.peer.end !== "open", "the end");
    }], (message) => message.request.url),
];
