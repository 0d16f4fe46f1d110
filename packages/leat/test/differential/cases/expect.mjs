// Expect: 100-continue, other expectations, writeContinue, writeProcessing.
import { chunk, ended, get, go, logged, post, quiet, replies, reply, request, until } from "../script.mjs";

const expecting = (length = 4, ...fields) => request("POST", "/", `Content-Length: ${length}`, "Expect: 100-continue", ...fields);

const echoes = (req, res) => {
    let text = "";
    req.on("data", (part) => (text += part));
    req.on("end", () => res.end(text));
};

export const cases = [
    { name: "is answered by the server", handle: echoes, script: [expecting(), reply, "body", reply, get(), reply] },
    { name: "is answered though the body has come", handle: echoes, script: [`${expecting()}body`, replies(2)] },
    { name: "in another case", handle: echoes, script: [request("POST", "/", "Content-Length: 4", "expect: 100-Continue"), reply, "body", reply] },
    { name: "with a chunked body", handle: echoes, script: [request("POST", "/", "Transfer-Encoding: chunked", "Expect: 100-continue"), reply, `${chunk("body")}0\r\n\r\n`, reply] },
    { name: "without a body", handle: echoes, script: [request("GET", "/", "Expect: 100-continue"), replies(2)] },
    { name: "with a length of zero", handle: echoes, script: [expecting(0), replies(2)] },
    { name: "is ignored for HTTP/1.0", handle: echoes, script: ["POST / HTTP/1.0\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n", quiet, "body", ended] },
    {
        name: "100 goes out before a reply that is given at once",
        handle: (req, res) => res.end("at once"),
        script: [expecting(), replies(2), "body", get(), reply],
    },
    {
        name: "checkContinue takes the place of request",
        handle: (req, res, { log }) => {
            log("request");
            res.end();
        },
        setup(server, { log }) {
            server.on("checkContinue", (req, res) => {
                log("checkContinue", req.method, req.headers.expect, res._sent100, res._expect_continue);
                res.writeContinue();
                log(res._sent100);
                echoes(req, res);
            });
        },
        script: [expecting(), reply, "body", reply, get(), reply],
    },
    {
        name: "checkContinue that hands on to request",
        handle: echoes,
        setup: (server) => server.on("checkContinue", (req, res) => {
            res.writeContinue(() => {});
            server.emit("request", req, res);
        }),
        script: [expecting(), reply, "body", reply],
    },
    {
        name: "checkContinue that refuses closes the connection",
        setup: (server) => server.on("checkContinue", (req, res) => {
            res.writeHead(413);
            res.end("no");
        }),
        script: [expecting(), reply, ended],
    },
    {
        name: "checkContinue that refuses with a body on its way",
        setup: (server) => server.on("checkContinue", (req, res) => {
            req.resume();
            req.on("end", () => {
                res.statusCode = 413;
                res.end("no");
            });
        }),
        script: [`${expecting()}body`, reply, ended],
    },
    {
        name: "checkContinue does not see other requests",
        handle: (req, res, { log }) => {
            log("request", req.url);
            res.end();
        },
        setup: (server, { log }) => server.on("checkContinue", () => log("never")),
        script: [post("/a", "x"), reply, get("/b"), reply],
    },
    {
        name: "checkContinue that waits",
        setup(server, { when }) {
            server.on("checkContinue", (req, res) => {
                when("continue", () => {
                    res.writeContinue();
                    echoes(req, res);
                });
            });
        },
        script: [expecting(), quiet, go("continue"), reply, "body", reply],
    },
    {
        name: "another expectation is refused",
        handle: (req, res, { log }) => log("never"),
        script: [request("POST", "/", "Content-Length: 4", "Expect: 200-ok"), reply, "body", quiet],
    },
    {
        name: "another expectation on GET is refused, the connection lives",
        handle: (req, res) => res.end("x"),
        script: [request("GET", "/", "Expect: meow"), reply, get(), reply],
    },
    {
        name: "an empty expectation",
        handle: (req, res) => res.end("x"),
        script: [request("GET", "/", "Expect:"), reply, get(), reply],
    },
    {
        name: "checkExpectation takes it",
        setup: (server, { log }) => server.on("checkExpectation", (req, res) => {
            log("checkExpectation", req.headers.expect);
            res.end("taken");
        }),
        script: [request("GET", "/", "Expect: meow"), reply, get("/", "Expect: 100-continue, meow"), quiet],
        handle: (req, res) => res.end("request"),
    },
    {
        name: "writeContinue without being asked",
        handle(req, res, { log }) {
            res.writeContinue();
            res.writeContinue();
            log(res.headersSent);
            res.end("x");
        },
        script: [get(), replies(3)],
    },
    {
        name: "writeContinue with a callback",
        handle(req, res, { log }) {
            res.writeContinue(() => log("written"));
            res.end("x");
        },
        script: [get(), replies(2), logged("written")],
    },
    {
        name: "writeProcessing",
        handle(req, res, { log, when }) {
            res.writeProcessing();
            log(res.headersSent, res._sent100);
            when("end", () => res.end("x"));
        },
        script: [get(), until("102 Processing\r\n\r\n"), go("end"), reply],
    },
    {
        name: "writeContinue after the head goes into the body",
        handle(req, res, { attempt }) {
            res.write("a");
            attempt("late", () => res.writeContinue());
            res.end("b");
        },
        script: [get(), until("0\r\n\r\n")],
    },
    {
        name: "writeContinue after the end",
        handle(req, res, { attempt }) {
            res.end("b");
            attempt("late", () => res.writeContinue());
        },
        script: [get(), reply, quiet],
    },
];
