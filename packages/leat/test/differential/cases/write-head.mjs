// writeHead, statusCode, statusMessage, and what becomes of the status line.
import { ended, get, headReply, quiet, reply, request } from "../script.mjs";

/** A case whose handler does `act(res, req, ctx)`; it must end the reply. */
const answer = (name, act, script) => ({ name, handle: (req, res, ctx) => act(res, req, ctx), ...(script && { script }) });
const closes = [get(), reply, ended];

/** A case that tries `act(res)` and logs the error, then answers. */
const refused = (name, ...acts) => ({
    name,
    handle(req, res, { attempt }) {
        acts.forEach((act, at) => attempt(`${at}`, () => act(res)));
        res.end("after");
    },
});

export const cases = [
    answer("status alone", (res) => res.writeHead(201).end()),
    answer("status and fields as an object", (res) => res.writeHead(200, { "X-A": "1", "content-type": "text/plain" }).end("x")),
    answer("status, reason and fields", (res) => res.writeHead(404, "Nothing Here", { "X-A": "1" }).end("x")),
    answer("status and reason", (res) => res.writeHead(299, "Mine").end()),
    answer("an empty reason falls back to the known one", (res) => res.writeHead(200, "").end()),
    answer("a status without a name is unknown", (res) => res.writeHead(799).end()),
    answer("the highest and odd status", (res) => res.writeHead(999, "Top").end()),
    answer("fields as a flat list", (res) => res.writeHead(200, ["X-B", "1", "X-A", "2", "X-B", "3"]).end("x")),
    answer("fields as a list of pairs", (res) => res.writeHead(200, [["X-B", "1"], ["X-A", "2"], ["X-B", "3"]]).end("x")),
    answer("a flat list on top of setHeader", (res) => {
        res.setHeader("X-A", "0");
        res.setHeader("X-C", "c");
        res.writeHead(200, ["x-a", "1", "X-D", "2"]).end("x");
    }),
    answer("an object on top of setHeader replaces in place", (res) => {
        res.setHeader("X-A", "0");
        res.setHeader("X-C", "c");
        res.writeHead(200, { "x-a": "1", "X-D": "2" }).end("x");
    }),
    answer("list values become several fields", (res) => res.writeHead(200, { "Set-Cookie": ["a=1", "b=2"], "X-L": ["1", "2"], Cookie: ["c", "d"] }).end()),
    answer("numbers and booleans as values", (res) => res.writeHead(200, { "X-N": 1.5, "X-T": true, "X-Nul": null, "X-Z": 0 }).end()),
    answer("an empty value", (res) => res.writeHead(200, { "X-E": "" }).end()),
    answer("a status as a string", (res) => res.writeHead("202").end("x")),
    answer("a status with a fraction", (res) => res.writeHead(200.9).end("x")),
    answer("own Content-Length", (res) => res.writeHead(200, { "Content-Length": 5 }).end("hello")),
    answer("own Content-Length in lower case", (res) => res.writeHead(200, { "content-length": "5" }).end("hello")),
    answer("own Content-Length and several writes", (res) => {
        res.writeHead(200, { "Content-Length": 10 });
        res.write("hello");
        res.end("world");
    }),
    answer("own Transfer-Encoding", (res) => res.writeHead(200, { "Transfer-Encoding": "chunked" }).end("hello")),
    answer("own Date", (res) => res.writeHead(200, { Date: "Thu, 01 Jan 1970 00:00:00 GMT" }).end()),
    answer("Date in lower case", (res) => res.writeHead(200, { date: "then" }).end()),
    answer("own Connection: close", (res) => res.writeHead(200, { Connection: "close" }).end("x"), closes),
    answer("Connection: Close among others", (res) => res.writeHead(200, { Connection: "te, Close" }).end("x"), closes),
    answer("own Connection: keep-alive", (res) => res.writeHead(200, { Connection: "keep-alive" }).end("x"), [get(), reply, get(), reply]),
    answer("own Connection: upgrade on a plain reply", (res) => res.writeHead(200, { Connection: "Upgrade", Upgrade: "h2c" }).end("x"), [get(), reply, get(), reply]),
    answer("own Keep-Alive", (res) => res.writeHead(200, { "Keep-Alive": "timeout=99, max=3" }).end("x")),
    answer("own Connection and Keep-Alive", (res) => res.writeHead(200, { Connection: "keep-alive", "Keep-Alive": "timeout=99" }).end("x")),
    answer("204 has no body and no length", (res) => res.writeHead(204).end("dropped"), [get(), reply, get(), reply]),
    answer("304 has no body and no length", (res) => res.writeHead(304, { ETag: '"x"' }).end("dropped"), [get(), reply, get(), reply]),
    answer("304 keeps an own length", (res) => res.writeHead(304, { "Content-Length": 5 }).end(), [get(), reply]),
    answer("204 with own Transfer-Encoding closes", (res) => res.writeHead(204, { "Transfer-Encoding": "chunked" }).end(), closes),
    answer("304 with own Transfer-Encoding closes", (res) => res.writeHead(304, { "Transfer-Encoding": "chunked" }).end(), closes),
    answer("205 has a length", (res) => res.writeHead(205).end()),
    answer("HEAD has the length of the body it lacks", (res) => res.end("hello"), [request("HEAD"), headReply, get(), reply]),
    answer("HEAD with own length", (res) => res.writeHead(200, { "Content-Length": 1000 }).end(), [request("HEAD"), headReply, quiet]),
    answer("HEAD with writes is chunked in name", (res) => {
        res.write("a");
        res.end("b");
    }, [request("HEAD"), headReply, quiet]),
    answer("writeHead returns the reply", (res, req, { log }) => {
        log(res.writeHead(200) === res);
        res.end();
    }),
    answer("headersSent and statusCode around it", (res, req, { log }) => {
        log(res.headersSent, res.statusCode, res.statusMessage);
        res.writeHead(201);
        log(res.headersSent, res.statusCode, res.statusMessage);
        res.end();
        log(res.headersSent, res.statusCode, res.statusMessage);
    }),
    answer("nothing is sent before the first body byte", (res, req, { when }) => {
        res.writeHead(200, { "X-A": 1 });
        when("end", () => res.end("x"));
    }, [get(), quiet, (s) => s.record.add(s.peer.text.length), (s) => s.actions.get("end")(), reply]),
    answer("fields of writeHead alone can't be read back", (res, req, { log }) => {
        res.writeHead(200, { "X-A": 1 });
        log(res.getHeader("x-a"), res.getHeaderNames(), res.hasHeader("X-A"));
        res.end();
    }),
    answer("fields of writeHead after setHeader can", (res, req, { log }) => {
        res.setHeader("X-S", 1);
        res.writeHead(200, { "X-A": 1 });
        log(res.getHeader("x-a"), res.getHeaderNames(), { ...res.getHeaders() });
        res.end();
    }),
    answer("statusCode without writeHead", (res) => {
        res.statusCode = 418;
        res.end("tea");
    }),
    answer("statusMessage without writeHead", (res) => {
        res.statusCode = 200;
        res.statusMessage = "Fine";
        res.end();
    }),
    answer("statusMessage is used by writeHead without one", (res) => {
        res.statusMessage = "Before";
        res.writeHead(202).end();
    }),
    answer("statusMessage set after the head is too late", (res, req, { log }) => {
        res.writeHead(202);
        res.statusMessage = "After";
        res.statusCode = 500;
        res.end();
        log(res.statusMessage, res.statusCode);
    }),
    answer("writeHeader is the old name, where Node has it still", (res, req, { attempt }) => {
        attempt("writeHeader", () => res.writeHeader?.(203, { "X-A": 1 }));
        res.end();
    }),
    answer("undefined where fields may stand", (res) => res.writeHead(200, undefined, undefined).end("x")),
    answer("undefined reason before fields", (res) => res.writeHead(200, undefined, { "X-A": "1" }).end("x")),
    answer("null fields", (res) => res.writeHead(200, null).end("x")),
    answer("a field with an empty name after setHeader is left out", (res) => {
        res.setHeader("X-S", 1);
        res.writeHead(200, { "": "x", "X-A": "1" }).end();
    }),
    answer("Trailer with a chunked body", (res) => {
        res.writeHead(200, { Trailer: "X-T", "Transfer-Encoding": "chunked" });
        res.write("a");
        res.addTrailers({ "X-T": "t" });
        res.end();
    }),
    answer("Content-Disposition with a length is latin1", (res) => res.writeHead(200, { "Content-Disposition": 'attachment; filename="caf\u00e9"', "Content-Length": 1 }).end("x")),
    answer("values of latin1 chars", (res) => res.writeHead(200, { "X-A": "caf\u00e9" }).end("x")),
    answer("a reason of latin1 chars", (res) => res.writeHead(200, "caf\u00e9").end("x")),
    refused("a status that is none", (res) => res.writeHead(99), (res) => res.writeHead(1000), (res) => res.writeHead(-1), (res) => res.writeHead(0), (res) => res.writeHead("abc"), (res) => res.writeHead(undefined), (res) => res.writeHead(NaN), (res) => res.writeHead({})),
    ...[["a reason with a line end", "a\r\nb"], ["a reason outside latin1", "\u20ac"]].map(([name, reason]) => ({
        name,
        handle(req, res, { attempt }) {
            attempt("head", () => res.writeHead(200, reason));
            attempt("end, since the reason has stayed", () => res.end());
            res.statusMessage = "Good";
            res.end("after");
        },
    })),
    refused("a name that is no token", (res) => res.writeHead(200, { "X A": 1 }), (res) => res.writeHead(200, { "X:A": 1 }), (res) => res.writeHead(200, { "": 1 })),
    refused("a value with a line end", (res) => res.writeHead(200, { "X-A": "a\r\nb" }), (res) => res.writeHead(200, { "X-A": "a\u0000" })),
    refused("a value that is undefined", (res) => res.writeHead(200, { "X-A": undefined })),
    refused("a flat list of odd length", (res) => res.writeHead(200, ["X-A", "1", "X-B"])),
    refused("a second head", (res) => res.writeHead(200, { "X-A": 1 }), (res) => res.writeHead(201)),
    {
        name: "an invalid statusCode is found out at the end",
        handle(req, res, { attempt }) {
            res.statusCode = 12;
            attempt("end", () => res.end("x"));
            res.statusCode = 200;
            attempt("again", () => res.end("y"));
        },
    },
    {
        name: "an invalid statusMessage is found out at the end",
        handle(req, res, { attempt }) {
            res.statusMessage = "a\nb";
            attempt("end", () => res.end("x"));
            res.statusMessage = "ok";
            attempt("again", () => res.end("y"));
        },
    },
    {
        name: "a 1xx as the status of a reply",
        handle: (req, res) => res.writeHead(150).end(),
        script: [get(), reply, quiet],
    },
];
