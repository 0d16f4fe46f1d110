// What a program writes as a reply's body, and how it is framed.
import { ended, get, go, headReply, logged, pause, quiet, reply, request, resume, until } from "../script.mjs";

const answer = (name, act, script) => ({ name, handle: (req, res, ctx) => act(res, ctx, req), ...(script && { script }) });
const old = "GET / HTTP/1.0\r\n\r\n";

export const cases = [
    answer("end with nothing", (res) => res.end()),
    answer("end with a string", (res) => res.end("hello")),
    answer("end with an empty string", (res) => res.end("")),
    answer("end with a Buffer", (res) => res.end(Buffer.from("hello"))),
    answer("end with a Uint8Array", (res) => res.end(new Uint8Array([104, 105]))),
    answer("end with an empty Buffer", (res) => res.end(Buffer.alloc(0))),
    answer("end with chars beyond ASCII", (res) => res.end("h\u00e9llo \u20ac \u{1f600}")),
    answer("end with a lone surrogate", (res) => res.end("a\ud800b")),
    answer("end with latin1", (res) => res.end("h\u00e9llo", "latin1")),
    answer("end with utf16le", (res) => res.end("hi", "utf16le")),
    answer("end with hex and base64", (res) => {
        res.write("6869", "hex");
        res.end("aGk=", "base64");
    }),
    answer("end with an own field and binary body", (res) => {
        res.setHeader("X-A", "\u00e9");
        res.end(Buffer.from([0, 255, 10, 13]));
    }),
    answer("end with a callback", (res, { log }) => res.end("x", () => log("called")), [get(), reply, logged("called")]),
    answer("end with encoding and a callback", (res, { log }) => res.end("x", "utf8", () => log("called")), [get(), reply, logged("called")]),
    answer("end with a callback alone", (res, { log }) => res.end(() => log("called")), [get(), reply, logged("called")]),
    answer("write then end is chunked", (res) => {
        res.write("a");
        res.end("bc");
    }),
    answer("write then end with nothing", (res) => {
        res.write("a");
        res.end();
    }),
    answer("several writes in a turn", (res) => {
        res.write("one");
        res.write(Buffer.from("two"));
        res.write("thr\u00e9\u00e9");
        res.end();
    }),
    answer("writes in several turns", (res, { when }) => {
        res.write("one");
        when("two", () => res.write("two"));
        when("three", () => res.end("three"));
    }, [get(), until("one\r\n"), quiet, go("two"), until("two\r\n"), quiet, go("three"), until("0\r\n\r\n")]),
    answer("an empty write sends the head", (res, { when }) => {
        res.write("");
        when("end", () => res.end("x"));
    }, [get(), quiet, (s) => s.record.add(s.peer.text.length > 0), go("end"), until("0\r\n\r\n")]),
    answer("an empty write in the middle ends nothing", (res) => {
        res.write("a");
        res.write("");
        res.write(Buffer.alloc(0));
        res.end("b");
    }),
    answer("write with encodings", (res) => {
        res.write("\u00e9", "latin1");
        res.write("\u00e9");
        res.write("e9", "hex");
        res.end("\u00e9", "ascii");
    }),
    answer("write callbacks come in order", (res, { log }) => {
        res.write("a", () => log("a"));
        res.write("b", "utf8", () => log("b"));
        res.end("c", () => log("c"));
    }, [get(), reply, logged("c")]),
    answer("write returns whether to go on", (res, { log }) => {
        log(res.write("small"));
        log(res.write("x".repeat(100_000)));
        log(res.writableNeedDrain);
        res.end();
        log(res.writableNeedDrain);
    }),
    answer("end returns the reply", (res, { log }) => log(res.end("x") === res, res.end() === res)),
    answer("flushHeaders sends the head at once", (res, { log, when }) => {
        res.setHeader("X-A", 1);
        res.flushHeaders();
        log(res.headersSent);
        when("end", () => res.end("body"));
    }, [get(), until("\r\n\r\n"), quiet, go("end"), until("0\r\n\r\n")]),
    answer("flushHeaders twice", (res, { when }) => {
        res.flushHeaders();
        res.flushHeaders();
        when("end", () => res.end());
    }, [get(), until("\r\n\r\n"), go("end"), until("0\r\n\r\n")]),
    answer("flushHeaders with an own length", (res, { when }) => {
        res.writeHead(200, { "Content-Length": 3 });
        res.flushHeaders();
        when("end", () => res.end("abc"));
    }, [get(), until("\r\n\r\n"), go("end"), until("abc")]),
    answer("1,000,000 bytes at once", (res) => res.end(Buffer.alloc(1_000_000, "z"))),
    answer("1,000,000 chars of two bytes at once", (res) => res.end("\u00e9".repeat(1_000_000))),
    answer("50 chunks of 20,000 bytes", (res) => {
        for (let at = 0; at < 50; at += 1) res.write(Buffer.alloc(20_000, 97 + (at % 26)));
        res.end();
    }),
    answer("a large reply to a client that reads late", (res, { log }) => {
        log(res.write(Buffer.alloc(8_000_000, "q")));
        res.on("drain", () => log("drain"));
        res.on("finish", () => log("finish"));
        res.once("drain", () => res.end("tail"));
    }, [pause, get(), quiet, (s) => s.record.add("reading"), resume, until("tail\r\n0\r\n\r\n"), logged("finish")]),
    answer("drain comes once the client reads", (res, { log }) => {
        res.writeHead(200, { "Content-Length": 6_000_000 });
        let left = 6;
        const more = () => {
            while (left > 0) {
                left -= 1;
                if (!res.write(Buffer.alloc(1_000_000, "d"))) break;
            }
            if (left === 0) res.end();
            else res.once("drain", more);
        };
        more();
        res.on("finish", () => log("finish", left));
    }, [get(), reply, logged("finish")]),
    answer("cork holds writes together", (res, { when, log }) => {
        res.cork();
        res.write("a");
        res.write("b");
        log(res.writableCorked);
        when("uncork", () => {
            res.uncork();
            log(res.writableCorked);
            res.end();
        });
    }, [get(), quiet, (s) => s.record.add(s.peer.text.includes("a\r\n")), go("uncork"), until("0\r\n\r\n")]),
    answer("cork twice, end lets all out", (res, { log }) => {
        res.cork();
        res.cork();
        res.write("a");
        res.end("b");
        log(res.writableCorked);
    }),
    answer("strictContentLength refuses too much", (res, { attempt }) => {
        res.strictContentLength = true;
        res.writeHead(200, { "Content-Length": 5 });
        attempt("more", () => res.write("123456"));
        attempt("fits", () => res.write("12345"));
        attempt("end", () => res.end());
    }, [get(), reply]),
    answer("strictContentLength refuses too little", (res, { attempt }) => {
        res.strictContentLength = true;
        res.setHeader("Content-Length", 5);
        attempt("end", () => res.end("1234"));
        attempt("whole", () => res.end("12345"));
    }, [get(), quiet]),
    answer("more than the own length goes out as it is", (res) => res.writeHead(200, { "Content-Length": 2 }).end("toomuch"), [get(), until("toomuch")]),
    answer("less than the own length leaves the client waiting", (res) => res.writeHead(200, { "Content-Length": 20 }).end("few"), [get(), until("few"), quiet]),
    answer("the first write decides the framing", (res) => {
        res.setHeader("Content-Length", 3);
        res.write("a");
        res.end("bc");
    }),
    answer("a body for 204 and 304 is dropped", (res, { log }) => {
        res.statusCode = 204;
        log(res.write("a"));
        res.write("b", () => log("written"));
        res.end("c", () => log("ended"));
    }, [get(), reply, logged("written"), logged("ended"), quiet]),
    answer("a body for HEAD is dropped", (res) => {
        res.write("a");
        res.end("b");
    }, [request("HEAD"), headReply, quiet]),
    answer("HTTP/1.0 with writes lasts to the end", (res) => {
        res.write("a");
        res.end("b");
    }, [old, ended]),
    answer("end in a later turn", (res, { when }) => when("end", () => res.end("later")), [get(), quiet, go("end"), reply]),
    answer("end in a microtask and nextTick", (res) => void Promise.resolve().then(() => {
        res.write("micro");
        process.nextTick(() => res.end("tick"));
    })),
    answer("writable properties through a reply's life", (res, { log }) => {
        const state = () => [res.writable, res.writableEnded, res.writableFinished, res.writableLength > 0, res.writableObjectMode, res.writableCorked, res.finished, res.destroyed, res.closed, res.errored];
        log(state(), res.writableHighWaterMark);
        res.write("a");
        log(state());
        res.on("prefinish", () => log("prefinish", state()));
        res.on("finish", () => log("finish", state()));
        res.on("close", () => log("close", state()));
        res.end();
        log(state());
    }, [get(), reply, logged("close")]),
    answer("writableLength counts what is corked", (res, { log }) => {
        res.cork();
        res.write("abc");
        log(res.writableLength);
        res.end();
    }),
    answer("chunks that are no bytes", (res, { attempt }) => {
        attempt("number", () => res.write(5));
        attempt("null", () => res.write(null));
        attempt("undefined", () => res.write(undefined));
        attempt("object", () => res.write({}));
        attempt("array", () => res.write(["a"]));
        attempt("end number", () => res.end(5));
        attempt("end object", () => res.end({}));
        attempt("end true", () => res.end(true));
        attempt("DataView", () => res.write(new DataView(new ArrayBuffer(1))));
        if (!res.writableEnded) res.end("fine");
    }, [get(), quiet]),
    answer("an encoding that is none", (res, { attempt }) => {
        attempt("write", () => res.write("a", "klingon"));
        res.end("b");
    }, [get(), quiet]),
    answer("the buffer may be changed once the callback came", (res) => {
        const bytes = Buffer.from("before");
        res.write(bytes, () => {
            bytes.fill("x");
            res.end();
        });
    }),
    answer("body and end across 100 ticks", (res) => {
        let left = 100;
        const step = () => {
            left -= 1;
            if (left === 0) res.end("!");
            else {
                res.write(`${left};`);
                setImmediate(step);
            }
        };
        step();
    }),
    {
        name: "rejectNonStandardBodyWrites throws for a body that may not be",
        options: { rejectNonStandardBodyWrites: true },
        handle(req, res, { attempt }) {
            res.statusCode = 204;
            attempt("write", () => res.write("a"));
            attempt("end", () => res.end("b"));
            if (!res.writableEnded) res.end();
        },
        script: [get(), reply, request("HEAD"), headReply],
    },
];
