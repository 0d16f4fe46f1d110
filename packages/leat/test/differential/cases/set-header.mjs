// setHeader and its siblings.
import { ended, get, reply } from "../script.mjs";

const answer = (name, act, script) => ({
    name,
    handle(req, res, ctx) {
        act(res, ctx);
        if (!res.writableEnded) res.end("x");
    },
    ...(script && { script }),
});

const tries = (name, ...acts) => answer(name, (res, { attempt }) => acts.forEach((act, at) => attempt(`${at}`, () => act(res))));

export const cases = [
    answer("names keep their case, order is that of setting", (res) => {
        res.setHeader("X-b", 1);
        res.setHeader("x-A", 2);
        res.setHeader("SERVER", "s");
    }),
    answer("setting again replaces value and case in place", (res) => {
        res.setHeader("X-One", 1);
        res.setHeader("X-Two", 2);
        res.setHeader("x-one", 3);
    }),
    answer("removed and set again stands last", (res) => {
        res.setHeader("X-One", 1);
        res.setHeader("X-Two", 2);
        res.removeHeader("x-ONE");
        res.setHeader("X-One", 3);
    }),
    answer("lists become several fields, cookies one", (res) => {
        res.setHeader("Set-Cookie", ["a", "b"]);
        res.setHeader("X-L", ["1", "2", "3"]);
        res.setHeader("Cookie", ["c", "d"]);
        res.setHeader("X-One", ["only"]);
        res.setHeader("X-None", []);
    }),
    answer("names like numbers come first", (res) => {
        res.setHeader("X-A", 1);
        res.setHeader("2", "two");
        res.setHeader("1", "one");
    }),
    answer("getHeader gives back what was set", (res, { log }) => {
        const list = ["a", "b"];
        res.setHeader("X-L", list);
        res.setHeader("X-N", 5);
        log(res.getHeader("x-l") === list, res.getHeader("X-N"), res.getHeader("absent"), res.getHeader("__proto__"));
    }),
    answer("getHeaderNames, getHeaders, hasHeader, getRawHeaderNames", (res, { log }) => {
        log(res.getHeaderNames(), { ...res.getHeaders() }, res.hasHeader("x-a"), res.getRawHeaderNames());
        res.setHeader("X-A", 1);
        res.setHeader("Set-Cookie", ["a", "b"]);
        const headers = res.getHeaders();
        log(res.getHeaderNames(), Object.getPrototypeOf(headers), { ...headers }, res.hasHeader("x-A"), res.hasHeader("absent"), res.getRawHeaderNames());
        headers["x-a"] = 2;
        log(res.getHeader("x-a"));
    }),
    answer("setHeader returns the reply, removeHeader nothing", (res, { log }) => log(res.setHeader("a", 1) === res, res.removeHeader("a"), res.appendHeader("b", "1") === res, res.setHeaders(new Map([["c", "2"]])) === res)),
    answer("appendHeader adds fields", (res, { log }) => {
        res.appendHeader("X-A", "1");
        res.appendHeader("x-a", "2");
        res.appendHeader("X-A", ["3", "4"]);
        res.appendHeader("Set-Cookie", ["a", "b"]);
        res.appendHeader("Set-Cookie", "c");
        log(res.getHeader("X-A"), res.getHeader("set-cookie"), res.getHeaderNames());
    }),
    answer("setHeaders takes a Map and Headers", (res, { log }) => {
        res.setHeaders(new Map([["X-A", "1"], ["X-B", ["2", "3"]]]));
        const headers = new Headers({ "X-C": "4" });
        headers.append("set-cookie", "a");
        headers.append("set-cookie", "b");
        res.setHeaders(headers);
        log({ ...res.getHeaders() });
    }),
    tries("setHeaders of what is neither", (res) => res.setHeaders({ a: 1 }), (res) => res.setHeaders([["a", 1]]), (res) => res.setHeaders(null), (res) => res.setHeaders("x")),
    tries("names that are no tokens", (res) => res.setHeader("", 1), (res) => res.setHeader("a b", 1), (res) => res.setHeader("a:", 1), (res) => res.setHeader("\u00e9", 1), (res) => res.setHeader("a\r\n", 1), (res) => res.setHeader(5, 1), (res) => res.setHeader(undefined, 1), (res) => res.appendHeader("a b", "1")),
    tries("values that can't be", (res) => res.setHeader("a", undefined), (res) => res.setHeader("a", "b\r\nc"), (res) => res.setHeader("a", "\u0000"), (res) => res.setHeader("a", "\u20ac"), (res) => res.setHeader("a", "\u007f"), (res) => res.appendHeader("a", "b\n")),
    tries("a bad value inside a list is found out at the end", (res) => res.setHeader("a", ["b", "c\r\n"])),
    answer("values that are no strings", (res) => {
        res.setHeader("X-Null", null);
        res.setHeader("X-True", true);
        res.setHeader("X-Object", { toString: () => "object" });
        res.setHeader("X-Date", new Date(0).toISOString());
        res.setHeader("X-Big", 12345678901234567890n);
        res.setHeader("X-Empty", "");
        res.setHeader("X-Tab", "a\tb");
    }),
    answer("latin1 in a value", (res) => res.setHeader("X-A", "\u00fc\u00ff\u0080")),
    tries("getHeader and others want strings", (res) => res.getHeader(), (res) => res.getHeader(5), (res) => res.hasHeader(null), (res) => res.removeHeader(undefined), (res) => res.hasHeader()),
    answer("too late after the head", (res, { attempt }) => {
        res.setHeader("X-A", 1);
        res.writeHead(200);
        attempt("set", () => res.setHeader("X-B", 1));
        attempt("append", () => res.appendHeader("X-B", "1"));
        attempt("setHeaders", () => res.setHeaders(new Map()));
        attempt("remove", () => res.removeHeader("X-A"));
        attempt("get", () => res.getHeader("X-A"));
    }),
    answer("too late after the end", (res, { attempt }) => {
        res.end("x");
        attempt("set", () => res.setHeader("X-B", 1));
        attempt("head", () => res.writeHead(200));
        attempt("flush", () => res.flushHeaders());
    }),
    answer("without Date", (res) => void (res.sendDate = false)),
    answer("Date removed", (res) => res.removeHeader("Date")),
    answer("own Date by setHeader", (res) => res.setHeader("DATE", "Fri, 02 Jan 1970 00:00:00 GMT")),
    answer("Connection removed", (res) => res.removeHeader("Connection"), [get(), reply, get(), reply]),
    answer("Connection removed, the client closes", (res) => res.removeHeader("connection"), [get("/", "Connection: close"), reply, ended]),
    answer("Content-Length removed makes it chunked", (res) => res.removeHeader("content-length"), [get(), reply]),
    answer("Transfer-Encoding removed leaves a length", (res) => res.removeHeader("transfer-encoding"), [get(), reply]),
    answer("Transfer-Encoding removed and a written body lasts to the end", (res) => {
        res.removeHeader("transfer-encoding");
        res.write("a");
        res.end("b");
    }, [get(), ended]),
    answer("both removed lasts to the end", (res) => {
        res.removeHeader("transfer-encoding");
        res.removeHeader("content-length");
    }, [get(), ended]),
    answer("removed, then set again", (res) => {
        res.removeHeader("content-length");
        res.setHeader("Content-Length", 1);
        res.removeHeader("connection");
        res.setHeader("Connection", "close");
    }, [get(), reply, ended]),
    answer("own Content-Length by setHeader", (res) => res.setHeader("Content-Length", "1")),
    answer("own Transfer-Encoding: chunked with a whole body", (res) => res.setHeader("Transfer-Encoding", "chunked")),
    answer("own Transfer-Encoding: gzip, chunked", (res) => res.setHeader("Transfer-Encoding", "gzip, chunked")),
    answer("own Connection: close by setHeader", (res) => res.setHeader("Connection", "close"), [get(), reply, ended]),
    answer("own Keep-Alive by setHeader", (res) => res.setHeader("Keep-Alive", "timeout=77")),
    answer("a field called __proto__", (res, { log }) => {
        res.setHeader("__proto__", "x");
        res.setHeader("constructor", "y");
        log(res.getHeaderNames(), res.getHeader("constructor"), res.hasHeader("toString"));
    }),
    answer("a hundred fields", (res) => {
        for (let at = 0; at < 100; at += 1) res.setHeader(`X-${at}`, at);
    }),
    answer("a value of 60,000 chars", (res) => res.setHeader("X-Long", "v".repeat(60_000))),
    answer("status and fields survive removeHeader in a loop", (res) => {
        res.statusCode = 404;
        for (const name of ["A", "B", "C"]) res.setHeader(name, name);
        for (const name of res.getHeaderNames()) res.removeHeader(name);
        res.setHeader("D", "d");
    }),
    {
        name: "validateHeaderName and validateHeaderValue",
        program: ({ http, attempt }) => {
            attempt("name", () => http.validateHeaderName("X-A"));
            attempt("bad name", () => http.validateHeaderName("X A"));
            attempt("label", () => http.validateHeaderName("X A", "Field"));
            attempt("value", () => http.validateHeaderValue("X-A", "b"));
            attempt("bad value", () => http.validateHeaderValue("X-A", "b\n"));
            attempt("no value", () => http.validateHeaderValue("X-A", undefined));
        },
    },
    {
        name: "uniqueHeaders joins lists with semicolons",
        options: { uniqueHeaders: ["X-U"] },
        handle(req, res) {
            res.setHeader("X-U", ["1", "2"]);
            res.setHeader("X-L", ["1", "2"]);
            res.write("a");
            res.addTrailers({ "X-U": ["3", "4"], "X-L": ["3", "4"] });
            res.end();
        },
    },
];
