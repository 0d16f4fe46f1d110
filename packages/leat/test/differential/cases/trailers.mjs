// addTrailers.
import { ended, get, headReply, quiet, reply, request } from "../script.mjs";

const answer = (name, act, script) => ({ name, handle: (req, res, ctx) => act(res, ctx), ...(script && { script }) });

export const cases = [
    answer("of a chunked reply", (res) => {
        res.setHeader("Trailer", "X-T");
        res.write("body");
        res.addTrailers({ "X-T": "1", "x-u": "2" });
        res.end();
    }),
    answer("as a list of pairs", (res) => {
        res.write("body");
        res.addTrailers([["X-T", "1"], ["X-T", "2"]]);
        res.end();
    }),
    answer("with lists of values", (res) => {
        res.write("body");
        res.addTrailers({ "X-T": ["1", "2"], "X-O": ["3"] });
        res.end();
    }),
    answer("with end's own body", (res) => {
        res.setHeader("Trailer", "X-T");
        res.addTrailers({ "X-T": "1" });
        res.end("body");
    }),
    answer("of a reply with a length are lost", (res) => {
        res.addTrailers({ "X-T": "1" });
        res.end("body");
    }),
    answer("set twice, the last wins", (res) => {
        res.write("body");
        res.addTrailers({ "X-A": "1" });
        res.addTrailers({ "X-B": "2" });
        res.end();
    }),
    answer("after the body", (res) => {
        res.writeHead(200, { Trailer: "Content-MD5" });
        res.write("a");
        res.write("b");
        setImmediate(() => {
            res.addTrailers({ "Content-MD5": "xyz" });
            res.end("c");
        });
    }),
    answer("of HEAD are not sent", (res) => {
        res.setHeader("Trailer", "X-T");
        res.setHeader("Transfer-Encoding", "chunked");
        res.addTrailers({ "X-T": "1" });
        res.end();
    }, [request("HEAD"), headReply, quiet]),
    answer("that can't be", (res, { attempt }) => {
        res.write("a");
        attempt("name", () => res.addTrailers({ "X T": "1" }));
        attempt("value", () => res.addTrailers({ "X-T": "a\r\nb" }));
        attempt("list", () => res.addTrailers({ "X-T": ["a", "b\n"] }));
        attempt("empty name", () => res.addTrailers([["", "b"]]));
        attempt("nothing", () => res.addTrailers());
        res.end();
    }),
    answer("announced without chunks is an error", (res, { attempt }) => {
        attempt("head", () => res.writeHead(200, { Trailer: "X-T", "Content-Length": 1 }));
        if (!res.headersSent) res.writeHead(200);
        res.end("x");
    }),
    answer("of latin1 chars", (res) => {
        res.write("a");
        res.addTrailers({ "X-T": "caf\u00e9" });
        res.end();
    }),
    answer("keep the connection", (res) => {
        res.write("a");
        res.addTrailers({ "X-T": "1" });
        res.end();
    }, [get(), reply, get(), reply]),
    answer("to HTTP/1.0 are lost", (res) => {
        res.write("a");
        res.addTrailers({ "X-T": "1" });
        res.end();
    }, ["GET / HTTP/1.0\r\n\r\n", ended]),
];
