// express.urlencoded: every option and error.
import { gzipSync } from "node:zlib";
import { constructs, parses } from "../bodies.mjs";
import { get, post, shown } from "../shapes.mjs";

const FORM = "application/x-www-form-urlencoded";
const form = (body, headers, more) => post(FORM, body, headers, more);
const parse = (name, options, requests, more) => parses("urlencoded", name, options, requests, more);
const BODIES = [
    "a=1&b=two",
    "a=1&a=2&a=3",
    "a[]=1&a[]=2",
    "a[0]=1&a[2]=2",
    "a[b]=1&a[c]=2",
    "a[b][c][d]=deep",
    "a.b=1",
    "a=%20+x&b=%C3%A9%E2%98%83",
    "a=%zz&b=%",
    "a=%ff",
    "a",
    "=1",
    "&",
    "&&a=1&&",
    "a=b=c",
    "a=",
    "a=1;b=2",
    "__proto__=1&toString=2&hasOwnProperty=3",
    "__proto__[x]=1",
    "a[__proto__]=1&a[toString]=2",
    "constructor[prototype][x]=1",
    "a[=1",
    "a]=1",
    "[a]=1",
    "[]=1&[]=2",
    "a[b=1",
    "a[1000]=far",
    "a[b]=1&a=2",
    "a=2&a[b]=1",
    "a%5Bb%5D=1",
    "é=☃",
    " a = 1 ",
    "a=1\r\n",
    "\ufeffa=1",
    "utf8=%E2%9C%93&a=%C3%A9",
    "utf8=%26%2310003%3B&a=%E9",
    "a=%26%239786%3B",
];
const many = (count, make = (at) => `k${at}=${at}`) => Array.from({ length: count }, (_, at) => make(at)).join("&");
const lengthOf = { after: (req, res) => res.send(Array.isArray(req.body.a) ? `list of ${req.body.a.length}` : `${Object.keys(req.body).length} keys, a is ${typeof req.body.a}`) };

export default [
    parse("extended", { extended: true }, BODIES.map((body) => form(body))),
    parse("not extended", { extended: false }, BODIES.map((body) => form(body))),
    parse("extended by default", undefined, ["a[b]=1", "a=1&a=2"].map((body) => form(body))),
    parse("extended null", { extended: null }, ["a[b]=1", "a=1&a=2"].map((body) => form(body))),
    parse("extended 0", { extended: 0 }, ["a[b]=1", "a=1&a=2"].map((body) => form(body))),
    parse("empty", { extended: true }, [form(""), form([]), form(undefined), get("/", { "Content-Type": FORM })]),
    parse("chunked", { extended: true }, [form(["a=", "1&b", "=2"])]),
    parse("types", { extended: true }, [FORM, FORM.toUpperCase(), `${FORM};charset=utf-8`, "text/plain", "", undefined, "multipart/form-data; boundary=x"].map((type) => post(type, "a=1"))),
    parse("type option", { extended: true, type: "text/*" }, ["text/plain", FORM].map((type) => post(type, "a=1"))),
    parse("charsets", { extended: true }, ["utf-8", "UTF-8", "iso-8859-1", "latin1", "utf-16", "x", ""].map((charset) => post(`${FORM}; charset=${charset}`, "a=%E9&b=é"))),
    parse("charsets, not extended", { extended: false }, ["utf-8", "iso-8859-1", "x"].map((charset) => post(`${FORM}; charset=${charset}`, "a=%E9&b=é"))),
    parse("defaultCharset", { extended: true, defaultCharset: "iso-8859-1" }, [form("a=%E9&b=%C3%A9"), post(`${FORM}; charset=utf-8`, "a=%C3%A9"), form(Buffer.from("a=\xe9", "latin1"))]),
    parse("charsetSentinel", { extended: true, charsetSentinel: true }, [form("utf8=%E2%9C%93&a=%C3%A9"), form("utf8=%26%2310003%3B&a=%E9"), form("a=%C3%A9"), form("a=1&utf8=%E2%9C%93"), post(`${FORM}; charset=iso-8859-1`, "utf8=%E2%9C%93&a=%C3%A9")]),
    parse("charsetSentinel with defaultCharset", { extended: true, charsetSentinel: true, defaultCharset: "iso-8859-1" }, [form("utf8=%E2%9C%93&a=%C3%A9"), form("a=%E9")]),
    parse("interpretNumericEntities", { extended: true, charsetSentinel: true, interpretNumericEntities: true }, [form("utf8=%26%2310003%3B&a=%26%239786%3B"), post(`${FORM}; charset=iso-8859-1`, "a=%26%239786%3B"), form("a=%26%239786%3B")]),
    parse("parameterLimit", { extended: true, parameterLimit: 3 }, ["a=1&b=2&c=3", "a=1&b=2&c=3&d=4", "&&&", "a=1&b=2&c=3&"].map((body) => form(body))),
    parse("parameterLimit, not extended", { extended: false, parameterLimit: 3 }, ["a=1&b=2&c=3", "a=1&b=2&c=3&d=4"].map((body) => form(body))),
    parse("parameterLimit with a part", { extended: true, parameterLimit: 2.9 }, ["a=1&b=2", "a=1&b=2&c=3"].map((body) => form(body))),
    parse("parameterLimit as text", { extended: true, parameterLimit: "2" }, ["a=1&b=2", "a=1&b=2&c=3"].map((body) => form(body))),
    parse("parameterLimit Infinity", { extended: true, parameterLimit: Infinity, limit: "1mb" }, [form(many(5000))], lengthOf),
    parse("parameterLimit by default", { extended: true }, [form(many(1000)), form(many(1001))], lengthOf),
    parse("parameterLimit by default, not extended", { extended: false }, [form(many(1000)), form(many(1001))], lengthOf),
    parse("long lists", { extended: true }, [form(many(30, () => "a[]=1")), form(many(150, () => "a[]=1")), form(many(150, () => "a=1")), form(many(150, (at) => `a[${at}]=1`)), form("a[100]=1"), form("a[101]=1"), form(`a[101]=1&${many(150)}`)], lengthOf),
    parse("long lists, not extended", { extended: false }, [form(many(30, () => "a=1")), form(many(150, () => "a=1"))], lengthOf),
    parse("depth", { extended: true, depth: 2 }, ["a[b]=1", "a[b][c]=1", "a[b][c][d]=1", "a[b][c][d][e]=1", "a[][][]=1"].map((body) => form(body))),
    parse("depth 0", { extended: true, depth: 0 }, ["a=1", "a[b]=1"].map((body) => form(body))),
    parse("depth by default", { extended: true }, [form(`a${"[b]".repeat(32)}=1`), form(`a${"[b]".repeat(33)}=1`)]),
    parse("depth, not extended", { extended: false, depth: 5 }, [form("a[b][c]=1")]),
    parse("limit", { extended: true, limit: 10 }, [form("a=12345678"), form("a=123456789"), form(["a=12345", "67890"])]),
    parse("inflate", { extended: true }, [form(gzipSync("a=1"), { "Content-Encoding": "gzip" })]),
    parse("inflate off", { extended: true, inflate: false }, [form(gzipSync("a=1"), { "Content-Encoding": "gzip" })]),
    parse("verify", (t) => ({ extended: true, verify: (req, res, buffer, encoding) => t.log(`${shown(buffer)} ${encoding}`) }), [form("a=1"), form("")]),
    parse("verify that throws", { extended: true, verify: () => {
        throw new Error("no");
    } }, [form("a=1")]),
    parse("the prototype of what is parsed", { extended: true }, [form("a[b]=1"), form("")], { after: (req, res) => res.send(`${Object.getPrototypeOf(req.body) === Object.prototype} ${req.body.a === undefined ? "" : Object.getPrototypeOf(req.body.a) === Object.prototype}`) }),
    parse("the prototype of what is parsed, not extended", { extended: false }, [form("a=1"), form("")], { after: (req, res) => res.send(`${Object.getPrototypeOf(req.body) === Object.prototype} ${Object.getPrototypeOf(req.body)}`) }),
    {
        name: "json and urlencoded, as apps have them",
        app(express) {
            const app = express();
            app.use(express.json(), express.urlencoded({ extended: true }));
            app.use((req, res) => res.json({ body: req.body, type: typeof req.body }));
            return app;
        },
        requests: [form("a=1"), post("application/json", '{"a":1}'), post("text/plain", "x"), get()],
    },
    ...constructs("urlencoded", [["nothing", undefined], ["extended false", { extended: false }], ["parameterLimit 0", { extended: true, parameterLimit: 0 }], ["parameterLimit text", { extended: false, parameterLimit: "x" }], ["depth negative", { extended: true, depth: -1 }], ["depth text", { extended: true, depth: "x" }], ["limit of nonsense", { extended: true, limit: "x" }], ["verify no function", { extended: true, verify: 5 }], ["defaultCharset unknown", { extended: true, defaultCharset: "utf-16" }]]),
];
