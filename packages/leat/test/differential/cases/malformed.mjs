// Bytes that are no request, or hardly one: what goes out, and what a program hears of it without a 'clientError' listener.
import { chunkedPost, ended, fin, get, logged, over, quiet, reply, request } from "../script.mjs";

/** Sends `bytes`; the handler logs what reaches it. */
const sent = (name, bytes, script = [bytes, ended], more = {}) => ({
    name,
    handle(req, res, { log }) {
        log(req.method, req.url, req.rawHeaders);
        res.end("served");
    },
    script,
    ...more,
});

const line = (text) => `${text}\r\nHost: a\r\n\r\n`;
const field = (text) => `GET / HTTP/1.1\r\nHost: a\r\n${text}\r\n\r\n`;

export const cases = [
    sent("an unknown method", line("FROB / HTTP/1.1")),
    sent("a method in lower case", line("get / HTTP/1.1")),
    sent("nonsense", "hello there\r\n\r\n"),
    sent("a TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    sent("NUL first", "\0GET / HTTP/1.1\r\n\r\n"),
    sent("no version", "GET /\r\n\r\n"),
    sent("HTTP/0.9", line("GET / HTTP/0.9")),
    sent("HTTP/1.2", line("GET / HTTP/1.2")),
    sent("HTTP/2.0", line("GET / HTTP/2.0")),
    sent("HTTP/3.0", line("GET / HTTP/3.0")),
    sent("another protocol's name", line("GET / HTCPCP/1.0")),
    sent("a version in lower case", line("GET / http/1.1")),
    sent("an empty target", line("GET  HTTP/1.1")),
    sent("a target with a space", line("GET /a b HTTP/1.1")),
    sent("a target with a control byte", line("GET /a\x01b HTTP/1.1")),
    sent("a target with bytes above 0x7f", line("GET /caf\xc3\xa9 HTTP/1.1")),
    sent("a target without a slash", line("GET path HTTP/1.1")),
    sent("two spaces before the version", "", [line("GET /  HTTP/1.1"), reply]),
    sent("a tab for a space", line("GET\t/ HTTP/1.1")),
    sent("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    sent("a name with a space before the colon", field("X-A : b")),
    sent("a name with a space inside", field("X A: b")),
    sent("a field without a colon", field("nonsense")),
    sent("a field without a name", field(": b")),
    sent("a name with a bracket", field("X[A]: b")),
    sent("a name with a byte above 0x7f", field("X\xe9: b")),
    sent("a value with NUL", field("X-A: b\0c")),
    sent("a value with a control byte", field("X-A: b\x01c")),
    sent("a value with DEL", field("X-A: b\x7fc")),
    sent("a value with a bare CR", field("X-A: b\rc")),
    sent("a folded value", field("X-A: b\r\n c")),
    sent("a first field that is folded", "GET / HTTP/1.1\r\n Host: a\r\n\r\n"),
    sent("a bare LF after the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n"),
    sent("a bare LF after a field", "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n"),
    sent("no Host", "GET / HTTP/1.1\r\n\r\n", ["GET / HTTP/1.1\r\n\r\n", reply, ended]),
    sent("no Host in a POST with a body", "", ["POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nab", reply, ended]),
    sent("no Host in HTTP/1.0 is well", "", ["GET / HTTP/1.0\r\n\r\n", ended]),
    sent("a length that is no number", request("POST", "/", "Content-Length: x")),
    sent("a negative length", request("POST", "/", "Content-Length: -1")),
    sent("a length with a plus", request("POST", "/", "Content-Length: +1")),
    sent("an empty length", request("POST", "/", "Content-Length:")),
    sent("a length beyond 64 bits", request("POST", "/", "Content-Length: 99999999999999999999999")),
    sent("two lengths that differ", `${request("POST", "/", "Content-Length: 1", "Content-Length: 2")}ab`),
    sent("two lengths that agree", `${request("POST", "/", "Content-Length: 2", "Content-Length: 2")}ab`),
    sent("a list of lengths", `${request("POST", "/", "Content-Length: 2, 2")}ab`),
    sent("a length and a coding", `${request("POST", "/", "Content-Length: 2", "Transfer-Encoding: chunked")}0\r\n\r\n`),
    sent("an unknown coding", request("POST", "/", "Transfer-Encoding: gzip")),
    sent("chunked that is not last", request("POST", "/", "Transfer-Encoding: chunked, gzip")),
    sent("chunked twice", `${request("POST", "/", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked")}0\r\n\r\n`),
    sent("a bad chunk size", `${chunkedPost()}zz\r\nab`, [`${chunkedPost()}zz\r\nab`, ended], {
        handle(req, res, { log, spy }) {
            spy("req", req, "error", "aborted", "close");
            spy("res", res, "close", "finish");
            log("begun");
        },
    }),
    sent("a chunk that is longer than its size", "", [`${chunkedPost()}2\r\nabcd\r\n0\r\n\r\n`, ended], {
        handle(req, res, { log, spy }) {
            spy("req", req, "error", "aborted", "close", "end");
            let text = "";
            req.on("data", (part) => (text += part));
            req.on("close", () => log(text));
        },
    }),
    sent("a bad chunk after the reply has begun", "", [chunkedPost(), (s) => s.until(() => s.peer.text.includes("begun"), "begun"), "zz\r\n", ended, logged("req close")], {
        handle(req, res, { spy }) {
            spy("req", req, "error", "aborted", "close", "end");
            spy("res", res, "close", "finish");
            res.write("begun");
            req.resume();
        },
    }),
    sent("a bad chunk after the reply has ended", "", [chunkedPost(), reply, "zz\r\n", ended], {
        handle: (req, res) => res.end("early"),
    }),
    sent("a head that is too large", "", [`GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(40_000)}\r\n\r\n`, ended]),
    sent("a head that never ends and is too large", "", [`GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(40_000)}`, ended]),
    sent("a target that is too large", "", [`GET /${"x".repeat(40_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, ended]),
    sent("too many small fields", "", [`GET / HTTP/1.1\r\nHost: a\r\n${"X: y\r\n".repeat(6000)}\r\n`, over]),
    sent("trailers that are too large", "", [`${chunkedPost()}0\r\nX: ${"x".repeat(40_000)}\r\n\r\n`, ended], {
        handle(req, res, { spy }) {
            spy("req", req, "error", "aborted", "close", "end");
            req.resume();
        },
    }),
    sent("garbage after a request", "", [get(), reply, "garbage\r\n\r\n", ended]),
    sent("garbage right behind a request", "", [`${get()}garbage\r\n\r\n`, ended]),
    sent("a body longer than its length", "", [`${request("POST", "/", "Content-Length: 2")}abcd`, ended]),
    sent("line ends between requests", "", [`${get("/1")}\r\n\r\n${get("/2")}`, reply, reply]),
    sent("a connection that ends without a byte", "", [fin, ended]),
    sent("a connection that ends in the middle of the line", "", ["GET / HT", quiet, fin, ended]),
    sent("a connection that ends in the middle of the head", "", ["GET / HTTP/1.1\r\nHost: a\r\n", quiet, fin, ended]),
    sent("a connection that ends after a request", "", [get(), reply, fin, ended]),
    sent("a connection that ends behind its only request", "", [get(), fin, ended]),
    sent("insecureHTTPParser lets more through", "", [field("X A: b"), ended], { options: { insecureHTTPParser: true } }),
];
