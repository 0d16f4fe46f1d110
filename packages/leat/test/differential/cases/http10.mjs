// Clients that speak HTTP/1.0.
import { ended, get, quiet, reply, request } from "../script.mjs";

const old = (target = "/", ...fields) => `${[`GET ${target} HTTP/1.0`, ...fields].join("\r\n")}\r\n\r\n`;
const answer = (name, act, script = [old(), ended]) => ({ name, handle: (req, res, ctx) => act(res, req, ctx), script });

export const cases = [
    answer("a whole body", (res) => res.end("hello")),
    answer("nothing", (res) => res.end()),
    answer("writes last to the end", (res) => {
        res.write("a");
        res.end("b");
    }),
    answer("own length", (res) => res.writeHead(200, { "Content-Length": 5 }).end("hello")),
    answer("versions as seen", (res, req, { log }) => {
        log(req.httpVersion, req.httpVersionMajor, req.httpVersionMinor, res.shouldKeepAlive, res.useChunkedEncodingByDefault);
        res.end();
    }),
    answer("keep-alive asked for and a length", (res) => res.end("hello"), [old("/", "Connection: keep-alive"), ended]),
    answer("keep-alive asked for and own length", (res) => res.writeHead(200, { "Content-Length": 5 }).end("hello"), [old("/", "Connection: keep-alive"), reply, old("/", "Connection: keep-alive"), reply]),
    answer("keep-alive asked for and writes", (res) => {
        res.write("a");
        res.end("b");
    }, [old("/", "Connection: keep-alive"), ended]),
    answer("keep-alive asked for and given", (res) => {
        res.setHeader("Connection", "keep-alive");
        res.setHeader("Content-Length", 2);
        res.end("ok");
    }, [old("/", "Connection: keep-alive"), reply, old(), reply, quiet]),
    answer("chunked asked for by TE", (res) => {
        res.write("a");
        res.end("b");
    }, [old("/", "TE: chunked"), ended]),
    answer("own chunked coding", (res) => {
        res.setHeader("Transfer-Encoding", "chunked");
        res.end("hello");
    }),
    answer("a body of the request", (res, req) => req.pipe(res), ["POST / HTTP/1.0\r\nContent-Length: 4\r\n\r\nbody", ended]),
    answer("a chunked body of the request", (res, req) => req.pipe(res), ["POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", ended]),
    answer("HEAD", (res) => res.end("hello"), ["HEAD / HTTP/1.0\r\n\r\n", ended]),
    answer("204", (res) => res.writeHead(204).end()),
    answer("no Host is well", (res, req, { log }) => {
        log(req.headers.host);
        res.end();
    }),
    answer("Host is seen", (res, req, { log }) => {
        log(req.headers.host);
        res.end();
    }, [old("/", "Host: x"), ended]),
    answer("an upgrade of 1.0", (res) => res.end("plain"), [old("/", "Connection: upgrade", "Upgrade: x"), ended]),
    answer("after 1.1 on the same connection", (res, req) => res.end(req.httpVersion), [get(), reply, old(), ended]),
    answer("1.1 without keep-alive beside", (res, req) => res.end(req.httpVersion), [request("GET", "/", "Connection: close"), ended]),
];
