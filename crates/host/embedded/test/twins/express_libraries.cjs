// The libraries of Express that need no server: they load, and give what they give on Node.
const { createRequire } = require("node:module");
const { join } = require("node:path");
const load = createRequire(join(__dirname, "../../../../../packages/leat/package.json"));

const show = (label, act) => {
    let value;
    try {
        value = act();
    } catch (error) {
        value = `${error.name} ${error.code ?? ""} ${error.message}`;
    }
    console.log(label, JSON.stringify(value));
};

const req = (headers) => ({ headers, connection: { remoteAddress: "10.0.0.1" }, socket: { remoteAddress: "10.0.0.1" } });

const accepts = load("accepts");
for (const accept of ["text/html", "*/*", "application/json;q=0.5, text/*;q=0.8", "image/png", ""]) {
    show(`accepts ${accept}`, () => accepts(req({ accept })).types(["html", "json", "text/plain"]));
}
show("accepts languages", () => accepts(req({ "accept-language": "de-CH, en;q=0.7" })).languages("en", "de"));
show("accepts charsets", () => accepts(req({ "accept-charset": "utf-8, iso-8859-1;q=0.2" })).charsets());
show("accepts encodings", () => accepts(req({ "accept-encoding": "gzip, br;q=0" })).encodings("br", "gzip", "identity"));

const qs = load("qs");
for (const text of ["a=1&b=2", "a[b][c]=d", "a[]=1&a[]=2", "a[0]=x&a[5]=y", "a=%F0%9F%98%80", "a=%E4", "__proto__[x]=1", "a.b=c", "", "=x", "a&b="]) {
    show(`qs ${text}`, () => qs.parse(text));
    show(`qs dots ${text}`, () => qs.parse(text, { allowDots: true, depth: 1, arrayLimit: 2 }));
}
show("qs stringify", () => qs.stringify({ a: [1, 2], b: { c: "ü" }, d: null, e: undefined, f: new Date(0) }));

const mime = load("mime-types");
for (const name of ["html", "a.json", ".js", "x.unknown", "svg", "text/plain", "a.tar.gz"]) show(`mime ${name}`, () => [mime.lookup(name), mime.contentType(name), mime.extension(name)]);

const contentDisposition = load("content-disposition");
for (const name of [undefined, "a.txt", "€ rates.txt", 'quote".txt', "Ü.html", "a/b/c.pdf", "%41.txt"]) {
    show(`disposition ${name}`, () => (typeof contentDisposition === "function" ? contentDisposition(name) : contentDisposition.create?.(name)));
}
const contentType = load("content-type");
for (const text of ["text/html; charset=utf-8", "a/b; x=\"y z\"", "bad", "a/b; c"]) show(`content-type ${text}`, () => contentType.parse(text));

const cookie = load("cookie");
show("cookie", () => [cookie.parse("a=1; b=%20x; c=\"q\""), cookie.serialize("n", "v ü", { maxAge: 3.5, httpOnly: true, path: "/", sameSite: "lax", expires: new Date(0) })]);
show("cookie bad", () => cookie.serialize("n\n", "v"));
const signature = load("cookie-signature");
show("signature", () => [signature.sign("tobi", "secret"), signature.unsign(signature.sign("tobi", "secret"), "secret"), signature.unsign("tobi.x", "secret")]);
show("signature bad", () => signature.sign("tobi"));

show("encodeurl", () => ["/ü", "/%zz", "/a b", "/\ud800x"].map(load("encodeurl")));
show("escape-html", () => load("escape-html")("<a href=\"x\">&'</a>"));
show("fresh", () => [load("fresh")({ "if-none-match": '"a"' }, { etag: '"a"' }), load("fresh")({ "if-modified-since": "Thu, 02 Jan 2020 03:04:05 GMT" }, { "last-modified": "Thu, 02 Jan 2020 03:04:06 GMT" })]);
const errors = load("http-errors");
show("http-errors", () => [404, 500, 418].map((code) => [errors(code).message, errors(code).name, errors(code).expose, errors(code, "own", { x: 1 }).x, errors(code) instanceof errors.HttpError]));
show("http-errors wraps", () => [errors(400, new TypeError("t")).name, errors.isHttpError(errors(400)), new errors.NotFound().status]);
show("parseurl", () => ["/a?b#c", "http://h/x?y", "*", "/a b"].map((url) => ({ ...load("parseurl")({ url }) })));
const { match, pathToRegexp, compile } = load("path-to-regexp");
for (const path of ["/a/:b", "/*rest", "/a{/:b}", "/bad(", "/:a/:a"]) {
    show(`path ${path}`, () => [match(path)("/a/b/c"), match(path)("/a/%20"), String(pathToRegexp(path).regexp)]);
}
show("compile", () => compile("/a/:b")({ b: "ü/" }));
const old = load("path-to-regexp-0.1");
for (const path of ["/a/:b", "/a/*", "/a/:b?", "/(\\d+)", "/a.b"]) show(`path 0.1 ${path}`, () => { const keys = []; return [String(old(path, keys, { end: true })), keys]; });

const proxy = load("proxy-addr");
const from = req({ "x-forwarded-for": "1.2.3.4, 10.0.0.2, ::ffff:127.0.0.1" });
for (const trust of ["loopback", "10.0.0.0/8", ["loopback", "10.0.0.0/8", "::1"], "uniquelocal", "bad"]) show(`proxy ${trust}`, () => [proxy(from, trust), proxy.all(from, trust)]);

show("range", () => ["bytes=0-4", "bytes=-3", "bytes=5-, 0-1", "bytes=9-2", "x", "bytes=20-"].map((text) => load("range-parser")(10, text)));
show("range combined", () => load("range-parser")(100, "bytes=0-4,5-9,90-", { combine: true }));
show("statuses", () => [load("statuses").message[404], load("statuses")("not found"), load("statuses").codes.length]);
show("statuses bad", () => load("statuses")(999));
const typeis = load("type-is");
for (const type of ["application/json", "text/html; charset=x", "application/vnd.api+json", undefined]) show(`type-is ${type}`, () => [typeis({ headers: { "content-type": type, "content-length": "1" } }, ["json", "html", "+json", "*/*"]), typeis.is(type, ["text/*"])]);
show("vary", () => [load("vary").append("Accept", "Origin, accept"), load("vary").append("*", "x"), load("vary").append("", ["A", "B"])]);
show("vary bad", () => load("vary").append("a", "b c\n"));
show("bytes", () => ["100kb", "1.5MB", "x", "12"].map(load("bytes").parse).concat(load("bytes")(1536)));
show("ms", () => ["2 days", "10h", "1m", "x"].map((text) => load("ms")(text)).concat(load("ms")(60000)));

const iconv = load("iconv-lite");
for (const encoding of ["utf8", "utf-16le", "utf-16", "latin1", "win1252", "shift_jis", "gbk", "ascii", "hex"]) {
    show(`iconv ${encoding}`, () => { const bytes = iconv.encode("Aé日", encoding); return [bytes.toString("hex"), iconv.decode(bytes, encoding)]; });
}
show("iconv unknown", () => [iconv.encodingExists("nope"), iconv.encodingExists("cp1251")]);

const depd = load("depd")("twin");
process.noDeprecation = true;
const wrapped = depd.function(function named(a, b) { return a + b; }, "old");
show("depd", () => [wrapped(1, 2), wrapped.length]);
depd("quiet");
delete process.noDeprecation;
const debug = load("debug")("twin");
show("debug", () => [debug.enabled, typeof debug.extend("x"), load("debug").enabled("twin")]);
