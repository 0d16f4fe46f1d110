// What a program sees of a request's head.
import { chunkedPost, chunk, get, post, reply, request } from "../script.mjs";

/** A case that logs what `look(req)` returns. */
const seen = (name, look, ...requests) => ({
    name,
    handle(req, res, { log }) {
        log(look(req));
        res.end();
    },
    script: requests.flatMap((bytes) => [bytes, reply]),
});

const headers = (req) => req.headers;

export const cases = [
    seen("method, url and version", (req) => [req.method, req.url, req.httpVersion, req.httpVersionMajor, req.httpVersionMinor], get("/a?b=c")),
    seen("the status of a request is null", (req) => [req.statusCode, req.statusMessage], get()),
    seen("url with escapes stays as sent", (req) => req.url, get("/%41%2f/.././/x?y=%20&z=;#")),
    seen("url in absolute form", (req) => [req.url, req.headers.host], get("http://other:81/p?q")),
    seen("url as an asterisk", (req) => [req.method, req.url], request("OPTIONS", "*")),
    seen("url of 7000 chars", (req) => [req.url.length, req.url.slice(-4)], get(`/${"u".repeat(6995)}tail`)),
    seen("url with a double slash and no path", (req) => req.url, get("//"), get("/?"), get("/#f")),
    seen("rawHeaders keep order, case and doubles", (req) => req.rawHeaders, get("/", "X-B: 1", "x-a: 2", "X-B: 3", "ACCEPT: *")),
    seen("headers are lower case, in order of arrival", (req) => Object.keys(req.headers), get("/", "X-B: 1", "x-a: 2", "X-B: 3", "ACCEPT: *")),
    seen("headers of the same name are joined", headers, get("/", "X-B: 1", "x-b: 2", "Accept: a", "accept: b")),
    seen("the first of a single-valued header wins", headers, get("/", "User-Agent: 1", "User-Agent: 2", "Referer: 1", "Referer: 2", "Authorization: 1", "Authorization: 2")),
    seen("cookies are joined with semicolons", (req) => req.headers.cookie, get("/", "Cookie: a=1", "Cookie: b=2", "cookie: c=3")),
    seen("set-cookie is always a list", (req) => req.headers["set-cookie"], get("/", "Set-Cookie: a"), get("/", "Set-Cookie: a", "Set-Cookie: b")),
    seen("every header that is never joined", headers, get("/", ...["Age", "From", "ETag", "Server", "Expires", "Location", "Retry-After", "Content-Type", "Max-Forwards", "Last-Modified", "If-Modified-Since", "If-Unmodified-Since", "Proxy-Authorization"].flatMap((name) => [`${name}: 1`, `${name}: 2`]))),
    seen("headers that are joined though well known", headers, get("/", ...["Date", "Vary", "Origin", "Accept", "If-Match", "Cache-Control", "If-None-Match", "Accept-Encoding", "X-Forwarded-For", "Content-Encoding", "X-Forwarded-Proto"].flatMap((name) => [`${name}: 1`, `${name}: 2`]))),
    seen("headersDistinct has every value", (req) => [Object.getPrototypeOf(req.headersDistinct), { ...req.headersDistinct }], get("/", "X-B: 1", "x-b: 2", "User-Agent: u", "User-Agent: v")),
    seen("headers is the same object each time", (req) => [req.headers === req.headers, req.rawHeaders === req.rawHeaders, req.headersDistinct === req.headersDistinct], get()),
    seen("headers can be changed and replaced", (req) => {
        req.headers.added = "1";
        delete req.headers.host;
        const changed = { ...req.headers };
        req.headers = { mine: "2" };
        return [changed, req.headers, req.rawHeaders];
    }, get("/", "X: y")),
    seen("headers is an ordinary object", (req) => [Object.getPrototypeOf(req.headers) === Object.prototype, req.headers.constructor === Object, "host" in req.headers, req.headers.absent], get()),
    seen("a header called __proto__", (req) => [Object.keys(req.headers), req.rawHeaders], get("/", "__proto__: x", "constructor: y", "toString: z")),
    seen("white space around values is not theirs", headers, get("/", "A:b", "B:   c", "C:\td\t ", "D: e f  g ", "E:", "F:   ")),
    seen("values of bytes above 0x7f are latin1", (req) => [req.headers.a, req.headers.a.length], get("/", "A: caf\xe9 \xc3\xa9 \xff")),
    seen("values with tabs and quotes inside", headers, get("/", 'A: "b\tc" (d) \\e', "B: ,;=")),
    seen("names of every kind of token char", (req) => req.rawHeaders, get("/", "a!#$%&'*+-.^_`|~9: 1", "_: 2", "9: 3")),
    seen("a long value", (req) => req.headers.a.length, get("/", `A: ${"v".repeat(10_000)}`)),
    seen("many headers", (req) => [req.rawHeaders.length, Object.keys(req.headers).length, req.headers.h299], get("/", ...Array.from({ length: 300 }, (_, at) => `H${at}: ${at}`))),
    seen("Host stays as sent", (req) => req.headers.host, "GET / HTTP/1.1\r\nHost: EXAMPLE.org:8080\r\n\r\n", "GET / HTTP/1.1\r\nhOST:\r\n\r\n", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"),
    seen("two Host fields", (req) => [req.headers.host, req.rawHeaders], "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
    seen("an empty line before the request line", (req) => req.url, `\r\n${get("/x")}`, `\r\n\r\n${get("/y")}`),
    seen("methods that carry no body by habit", (req) => req.method, ...["DELETE", "OPTIONS", "TRACE", "PATCH", "PUT", "POST"].map((method) => request(method, "/"))),
    seen("methods beyond RFC 9110", (req) => req.method, ...["PROPFIND", "MKCOL", "LOCK", "UNLOCK", "REPORT", "M-SEARCH", "PURGE", "LINK", "SUBSCRIBE", "SEARCH", "SOURCE", "BIND", "ACL", "MERGE", "MKCALENDAR"].map((method) => request(method, "/"))),
    seen("trailers before the body has ended", (req) => [req.trailers, req.rawTrailers, { ...req.trailersDistinct }], chunkedPost() + chunk("a") + "0\r\nX: y\r\n\r\n"),
    seen("complete and aborted in the handler", (req) => [req.complete, req.aborted, req.readableEnded, req.destroyed], get(), post("/", "body")),
    seen("the message knows its socket", (req) => [req.socket === req.connection, req.client === req.socket, req.socket.server !== undefined, req.socket.parser !== undefined], get()),
    seen("upgrade is not set without the field", (req) => [req.upgrade, req._consuming, req._dumped], get()),
    seen("which properties a request has", (req) => Object.keys(req).filter((name) => /^(aborted|complete|httpVersion|httpVersionMajor|httpVersionMinor|rawHeaders|rawTrailers|method|socket|upgrade|url|client|joinDuplicateHeaders|statusCode|statusMessage)$/.test(name)).sort(), get()),
    seen("a request as JSON and as a spread", (req) => [JSON.stringify(req.rawHeaders), { ...req }.url, { ...req }.method, Object.hasOwn(req, "url"), Object.hasOwn(req, "headers")], get("/spread")),
    seen("url and method can be set", (req) => {
        const was = [req.url, req.method];
        req.originalUrl = req.url;
        req.url = "/else";
        req.method = "POST";
        return [...was, req.originalUrl, req.url, req.method];
    }, get("/was")),
    {
        name: "the head comes in single bytes",
        handle(req, res, { log }) {
            log(req.method, req.url, req.rawHeaders);
            res.end();
        },
        script: [...get("/slow", "A: b"), reply],
    },
    {
        name: "the head comes in two pieces with a wait between",
        handle(req, res, { log }) {
            log(req.url, req.headers);
            res.end("x");
        },
        setup: (server, { log }) => server.on("connection", () => log("connection")),
        script: ["GET /a HTTP/1.1\r\nHos", (session) => session.quiet(), "t: b\r\nX: y\r", (session) => session.quiet(), "\n\r\n", reply],
    },
    {
        name: "headers that are kept are right later",
        handle(req, res, { log, when }) {
            if (req.url === "/first") when("look", () => log(req.headers, req.rawHeaders, req.url, req.method));
            res.end();
        },
        script: [get("/first", "X: 1"), reply, ...Array.from({ length: 30 }, (_, at) => [post(`/${at}`, "z".repeat(at * 50), `Y: ${at}`), reply]).flat(), async (session) => session.actions.get("look")()],
    },
];
