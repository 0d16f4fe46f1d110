// express.text and express.raw: every option and error.
import { deflateSync, gzipSync } from "node:zlib";
import { constructs, parses } from "../bodies.mjs";
import { get, post, shown } from "../shapes.mjs";

const text = (name, options, requests, more) => parses("text", `text ${name}`, options, requests, more);
const raw = (name, options, requests, more) => parses("raw", `raw ${name}`, options, requests, more);
const BINARY = "application/octet-stream";
const plain = (body, headers, more) => post("text/plain", body, headers, more);
const binary = (body, headers, more) => post(BINARY, body, headers, more);

export default [
    text("of every kind", undefined, [plain("hello"), plain("héllo ☃"), plain(""), plain([]), plain(["a", "é", "b"]), plain(undefined), get(), plain("\ufeffmark"), plain(Buffer.from([0xff, 0xfe, 0]))]),
    text("types", undefined, ["text/plain", "TEXT/PLAIN; x=y", "text/html", "application/json", "", undefined].map((type) => post(type, "x"))),
    text("type option", { type: "text/*" }, ["text/plain", "text/html", "application/json"].map((type) => post(type, "x"))),
    text("type of everything", { type: "*/*" }, ["text/plain", "", undefined].map((type) => post(type, "x"))),
    text("type function", { type: () => true }, [post(undefined, "x"), get()]),
    text("charsets", undefined, ["utf-8", "iso-8859-1", "windows-1252", "koi8-r", "us-ascii", "utf-16le", "utf-7", "nonsense", "", '"latin1"', "UTF8"].map((charset) => post(`text/plain; charset=${charset}`, Buffer.from([0xe9, 0x41, 0xc3, 0xa9])))),
    text("charset in a bad Content-Type", undefined, ["text/plain; charset", "text/plain; charset=a b", "text/plain; =x; charset=latin1", "text/plain;;charset=latin1", 'text/plain; charset="latin1'].map((type) => post(type, Buffer.from([0xe9])))),
    text("defaultCharset", { defaultCharset: "iso-8859-1" }, [plain(Buffer.from([0xe9])), post("text/plain; charset=utf-8", "é")]),
    text("defaultCharset unknown", { defaultCharset: "nonsense" }, [plain("x")]),
    text("a char cut by chunks", undefined, [plain([Buffer.from([0xc3]), Buffer.from([0xa9])])]),
    text("limit", { limit: 5 }, [plain("12345"), plain("123456"), plain(["123", "456"]), plain("ééé")]),
    text("inflate", undefined, [plain(gzipSync("hello"), { "Content-Encoding": "gzip" }), plain(deflateSync("hello"), { "Content-Encoding": "deflate" }), plain("x", { "Content-Encoding": "nonsense" }), plain("no gzip", { "Content-Encoding": "gzip" })]),
    text("inflate off", { inflate: false }, [plain(gzipSync("hello"), { "Content-Encoding": "gzip" })]),
    text("verify", (t) => ({ verify: (req, res, buffer, encoding) => t.log(`${shown(buffer)} ${encoding}`) }), [plain("é"), post("text/plain; charset=nonsense", "x")]),
    text("verify that throws", { verify: () => {
        throw new Error("no");
    } }, [plain("x")]),
    ...constructs("text", [["nothing", undefined], ["limit of nonsense", { limit: "x" }], ["verify no function", { verify: 1 }]]).map((entry) => ({ ...entry, name: `text ${entry.name}` })),

    raw("of every kind", undefined, [binary("hello"), binary(Buffer.from([0, 1, 255])), binary(""), binary([]), binary([Buffer.from([1]), Buffer.from([2])]), binary(undefined), get()]),
    raw("types", undefined, [BINARY, "APPLICATION/Octet-Stream", "text/plain", "image/png", "", undefined].map((type) => post(type, "x"))),
    raw("type option", { type: "image/*" }, ["image/png", BINARY].map((type) => post(type, "x"))),
    raw("type of everything", { type: "*/*" }, ["image/png", "", undefined].map((type) => post(type, "x"))),
    raw("type function", { type: () => true }, [post(undefined, "x"), get()]),
    raw("charset in the type means nothing", undefined, [post(`${BINARY}; charset=nonsense`, "x"), post(`${BINARY}; charset`, "x")]),
    raw("limit", { limit: "1kb" }, [binary(Buffer.alloc(1024, 1)), binary(Buffer.alloc(1025, 1)), binary([Buffer.alloc(1000), Buffer.alloc(25)])], { after: (req, res) => res.send(String(req.body.length)) }),
    raw("of 2,000,000 bytes", { limit: "3mb" }, [binary(Buffer.alloc(2_000_000, 5)), binary([Buffer.alloc(1_000_000, 5), Buffer.alloc(1_000_000, 6)])], { after: (req, res) => res.send(`${req.body.length} ${req.body[0]} ${req.body.at(-1)} ${Buffer.isBuffer(req.body)}`) }),
    raw("inflate", undefined, [binary(gzipSync("hello"), { "Content-Encoding": "gzip" }), binary("no gzip", { "Content-Encoding": "gzip" })]),
    raw("inflate of a bomb", { limit: "10kb" }, [binary(gzipSync(Buffer.alloc(10_000_000)), { "Content-Encoding": "gzip" })], { after: (req, res) => res.send(String(req.body.length)) }),
    raw("inflate off", { inflate: false }, [binary(gzipSync("hello"), { "Content-Encoding": "gzip" })]),
    raw("verify", (t) => ({ verify: (req, res, buffer, encoding) => t.log(`${shown(buffer)} ${shown(encoding)}`) }), [binary("x")]),
    raw("verify that throws", { verify: () => {
        throw new Error("no");
    } }, [binary("x")]),
    raw("a body that is answered with", undefined, [binary(Buffer.from([0, 255]))], { after: (req, res) => res.send(req.body) }),
    ...constructs("raw", [["nothing", undefined], ["limit of nonsense", { limit: "x" }], ["verify no function", { verify: 1 }]]).map((entry) => ({ ...entry, name: `raw ${entry.name}` })),
];
