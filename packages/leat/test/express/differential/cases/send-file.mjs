// res.sendFile, res.sendfile (4) and res.download: paths, options, errors, callbacks.
import { WHEN_TEXT, etagOf } from "../files.mjs";
import { answers, get, head, shown, told } from "../shapes.mjs";

const root = (t) => `${t.dir}/static`;
/** Sends `file` of the folder with `options`. */
const send = (name, file, options = {}, requests = [get()], more = {}) => answers(`sendFile ${name}`, (req, res, next, t) => res.sendFile(file, { root: root(t), ...options }), requests, more);
const absolute = (name, file, requests = [get()], more = {}) => answers(`sendFile ${name}`, (req, res, next, t) => res.sendFile(`${root(t)}/${file}`), requests, more);
/** Logs what the callback gets, once the transfer is over, and answers when it failed. */
const called = (name, file, options = {}, requests = [get()], method = "sendFile") => answers(`${method} callback ${name}`, (req, res, next, t) => {
    const over = (...args) => {
        t.log(`called with ${args.map((arg) => (arg instanceof Error ? told(arg) : shown(arg))).join(", ") || "nothing"}; ${res.headersSent} ${res.statusCode}`);
        if (args[0] && !res.headersSent) res.status(args[0].status ?? 500).end("answered by the callback");
    };
    if (method === "sendFile") res.sendFile(file, { root: root(t), ...options }, over);
    else res.download(file, "name.txt", { root: root(t), ...options }, over);
}, requests);
const download = (name, args, requests = [get()]) => answers(`download ${name}`, (req, res, next, t) => res.download(...(typeof args === "function" ? args(t) : args.map((arg, at) => (at === 0 ? `${root(t)}/${arg}` : arg)))), requests);
const FILES = ["hello.txt", "empty.txt", "index.html", "style.css", "app.js", "mod.mjs", "mod.wasm", "data.json", "table.csv", "doc.xml", "read.md", "image.svg", "pic.png", "archive.tar.gz", "noext", "unknown.zzz", "upper.HTML", "with space/a file.txt", "ü.txt", "per%20cent.txt", "semi;colon.txt", "a+b&c=d.txt", "large.bin"];
const HELLO = etagOf(13);
const TEN = etagOf(10);
const strong = (etag) => etag.slice(2);

export default [
    ...FILES.map((file) => absolute(file, file, [get(), head()])),
    ...["missing.txt", ".hidden", ".dir/file.txt", "..two", "sub", "sub/", "bare", "hello.txt/", "hello.txt/more", "deep//er/./file.txt", "x".repeat(300), "a\0b", "%", "%2e%2e/secret"].map((file) => absolute(`of ${JSON.stringify(file.length > 50 ? "a name too long" : file)}`, file)),
    ...["../views/hello.ejs", "sub/../hello.txt", "sub/../../views/hello.ejs", "/hello.txt", "//hello.txt", "./hello.txt", "", "/", ".", "..", "missing.txt", "sub", "sub/", "deep/er/file.txt", "ü.txt", "\\hello.txt", "sub\\..\\hello.txt"].map((file) => send(`with a root of ${JSON.stringify(file)}`, file)),
    answers("sendFile of a relative path without root", (req, res) => res.sendFile("hello.txt")),
    ...[undefined, null, 5, {}, [], ["/a"], true, ""].map((path) => answers(`sendFile of ${shown(path)}`, (req, res) => res.sendFile(path))),
    answers("sendFile of a Buffer and a URL", (req, res, next, t) => {
        for (const path of [Buffer.from("/a"), new URL("file:///a")]) {
            try {
                res.sendFile(path);
            } catch (error) {
                t.log(told(error));
            }
        }
        res.end();
    }),
    answers("sendFile returns", (req, res, next, t) => t.log(shown(res.sendFile(`${root(t)}/hello.txt`)))),
    send("with null options", "hello.txt", null),
    answers("sendFile with options of another type", (req, res, next, t) => res.sendFile(`${root(t)}/hello.txt`, "text")),

    send("maxAge number", "hello.txt", { maxAge: 3_600_000 }),
    send("maxAge text", "hello.txt", { maxAge: "2 days" }),
    send("maxAge nonsense", "hello.txt", { maxAge: "nonsense" }),
    send("maxAge negative", "hello.txt", { maxAge: -5 }),
    send("maxAge beyond a year", "hello.txt", { maxAge: Infinity }),
    send("maxage in lower case", "hello.txt", { maxage: 5000 }),
    send("immutable", "hello.txt", { maxAge: 5000, immutable: true }),
    send("immutable without maxAge", "hello.txt", { immutable: true }),
    send("cacheControl off", "hello.txt", { cacheControl: false, maxAge: 5000, immutable: true }),
    send("lastModified off", "hello.txt", { lastModified: false }),
    send("etag off by the option", "hello.txt", { etag: false }),
    send("etag off by the setting", "hello.txt", {}, [get()], { settings: { etag: false } }),
    send("etag on by the option, off by the setting", "hello.txt", { etag: true }, [get()], { settings: { etag: false } }),
    send("etag strong by the setting", "hello.txt", {}, [get()], { settings: { etag: "strong" } }),
    send("acceptRanges off", "ten.txt", { acceptRanges: false }, [get("/", { Range: "bytes=0-2" })]),
    send("acceptRanges on", "ten.txt", { acceptRanges: true }, [get("/", { Range: "bytes=0-2" })]),
    send("start and end", "ten.txt", { start: 2, end: 5 }, [get(), head(), get("/", { Range: "bytes=1-2" }), get("/", { Range: "bytes=9-" })]),
    send("start alone", "ten.txt", { start: 7 }),
    send("end beyond the file", "ten.txt", { start: 7, end: 100 }),
    send("start beyond the file", "ten.txt", { start: 100 }),
    send("extensions", "page", { extensions: ["html", "txt"] }),
    send("extensions of a missing file", "sub/other", { extensions: ["html", "txt"] }),
    send("extensions, none of them there", "nowhere", { extensions: ["html"] }),
    send("extensions as text", "sub/other", { extensions: "txt" }),
    send("extensions false", "sub/other", { extensions: false }),
    send("extensions of a wrong type", "sub/other", { extensions: [5] }),
    send("index", "sub/", { index: ["other.txt"] }),
    send("index false", "sub/", { index: false }),
    send("index of a wrong type", "sub/", { index: [5] }),
    ...["allow", "deny", "ignore", "bad", true].flatMap((dotfiles) => [".hidden", ".dir/file.txt", "hello.txt"].map((file) => send(`dotfiles ${dotfiles} ${file}`, file, { dotfiles }))),
    answers("sendFile hidden", (req, res, next, t) => res.sendFile(".hidden", { root: root(t), hidden: true })),
    answers("sendFile from", (req, res, next, t) => res.sendFile("hello.txt", { root: root(t), from: `${t.dir}/second` })),
    answers("sendFile below a dot folder by root", (req, res, next, t) => res.sendFile("file.txt", { root: `${root(t)}/.dir` })),
    answers("sendFile below a dot folder by its path", (req, res, next, t) => res.sendFile(`${root(t)}/.dir/file.txt`)),
    answers("sendFile with a root that is no text", (req, res) => res.sendFile("hello.txt", { root: 5 })),
    answers("sendFile with a root that is missing", (req, res, next, t) => res.sendFile("hello.txt", { root: `${t.dir}/nowhere` })),
    answers("sendFile with a relative root", (req, res) => res.sendFile("package.json", { root: "no/such/root" })),
    send("headers", "hello.txt", { headers: { "x-a": "1", "X-L": ["a", "b"], "Content-Type": "text/x-mine", "Cache-Control": "no-store", ETag: '"mine"', "Last-Modified": "Thu, 01 Jan 1970 00:00:00 GMT", "Accept-Ranges": "none" } }),
    send("headers that may not be", "hello.txt", { headers: { "x-a": "a\nb" } }, [get("/", {}, { abortAfter: 1000, wait: "uncaught" })], { harness: { throws: true } }),
    send("headers of a missing file", "missing.txt", { headers: { "x-a": "1" } }),
    answers("sendFile under headers set before", (req, res, next, t) => res.set({ "Content-Type": "text/x-mine", "Cache-Control": "private", ETag: '"mine"', "Last-Modified": WHEN_TEXT, "Content-Length": "3", "Accept-Ranges": "none" }).sendFile(`${root(t)}/ten.txt`), [get(), get("/", { "If-None-Match": '"mine"' }), get("/", { Range: "bytes=1-2" })]),
    answers("sendFile under a status set before", (req, res, next, t) => res.status(404).sendFile(`${root(t)}/hello.txt`), [get(), get("/", { "If-None-Match": HELLO })]),
    answers("sendFile under 204", (req, res, next, t) => res.status(204).sendFile(`${root(t)}/hello.txt`)),
    answers("sendFile to POST", (req, res, next, t) => res.sendFile(`${root(t)}/hello.txt`), [{ method: "POST", path: "/" }, { method: "DELETE", path: "/" }]),

    absolute("conditional", "hello.txt", [
        get("/", { "If-None-Match": HELLO }),
        get("/", { "If-None-Match": strong(HELLO) }),
        get("/", { "If-None-Match": `"x", ${HELLO}` }),
        get("/", { "If-None-Match": "*" }),
        get("/", { "If-None-Match": '"other"' }),
        get("/", { "If-None-Match": HELLO, "Cache-Control": "no-cache" }),
        get("/", { "If-Modified-Since": WHEN_TEXT }),
        get("/", { "If-Modified-Since": "Thu, 02 Jan 2020 03:04:04 GMT" }),
        get("/", { "If-Modified-Since": "Fri, 03 Jan 2020 03:04:05 GMT" }),
        get("/", { "If-Modified-Since": "nonsense" }),
        get("/", { "If-None-Match": '"other"', "If-Modified-Since": WHEN_TEXT }),
        head("/", { "If-None-Match": HELLO }),
    ]),
    absolute("preconditions", "hello.txt", [
        get("/", { "If-Match": HELLO }),
        get("/", { "If-Match": "*" }),
        get("/", { "If-Match": '"other"' }),
        get("/", { "If-Match": `"other", ${strong(HELLO)}` }),
        get("/", { "If-Unmodified-Since": WHEN_TEXT }),
        get("/", { "If-Unmodified-Since": "Thu, 02 Jan 2020 03:04:04 GMT" }),
        get("/", { "If-Unmodified-Since": "nonsense" }),
        get("/", { "If-Match": HELLO, "If-None-Match": HELLO }),
    ]),
    absolute("ranges", "ten.txt", [
        ...["bytes=0-4", "bytes=5-", "bytes=-3", "bytes=0-0", "bytes=9-9", "bytes=10-", "bytes=5-100", "bytes=-100", "bytes=-0", "bytes=5-2", "bytes=", "bytes=x-y", "items=0-2", "bytes = 0-2", " bytes=1-2", "bytes=0-1,2-3", "bytes=0-1,5-6", "bytes=0-1,100-", "bytes=100-,200-", "bytes=0-18446744073709551616", "BYTES=0-1", "bytes=1-2, ", "bytes=--1"].map((Range) => get("/", { Range })),
        head("/", { Range: "bytes=0-4" }),
        head("/", { Range: "bytes=100-" }),
    ]),
    absolute("ranges with If-Range", "ten.txt", [TEN, strong(TEN), '"other"', WHEN_TEXT, "Wed, 01 Jan 2020 00:00:00 GMT", "Fri, 03 Jan 2020 00:00:00 GMT", "nonsense", ""].map((value) => get("/", { Range: "bytes=2-3", "If-Range": value }))),
    absolute("ranges of an empty file", "empty.txt", [get("/", { Range: "bytes=0-" }), get("/", { Range: "bytes=-1" }), get("/", { Range: "bytes=0-0" })]),
    absolute("ranges of a large file", "large.bin", [get("/", { Range: "bytes=299990-" }), get("/", { Range: "bytes=65530-65545" }), get("/", { Range: "bytes=0-250000" })]),
    absolute("ranges and conditions", "ten.txt", [get("/", { Range: "bytes=0-1", "If-None-Match": TEN }), get("/", { Range: "bytes=0-1", "If-Match": '"no"' }), get("/", { Range: "bytes=100-", "If-Modified-Since": WHEN_TEXT })]),
    answers("sendFile of a folder calls next", (req, res, next, t) => res.sendFile(`${root(t)}/sub`)),

    called("of a file", "hello.txt"),
    called("of a file to HEAD", "hello.txt", {}, [head()]),
    called("of a file not modified", "hello.txt", {}, [get("/", { "If-None-Match": HELLO })]),
    called("of a range", "ten.txt", {}, [get("/", { Range: "bytes=2-3" }), get("/", { Range: "bytes=20-" })]),
    called("of a failed precondition", "hello.txt", {}, [get("/", { "If-Match": '"x"' })]),
    called("of a missing file", "missing.txt"),
    called("of a folder", "sub"),
    called("of a dot file", ".hidden", { dotfiles: "deny" }),
    called("of a path out of the root", "../views/hello.ejs"),
    called("of a path that cannot be decoded", "%"),
    called("of a null byte", "a\0b"),
    called("of an empty file", "empty.txt"),
    called("of a large file", "large.bin"),
    answers("sendFile(path, callback)", (req, res, next, t) => res.sendFile(`${root(t)}/hello.txt`, (error) => t.log(`called ${shown(error)}`))),
    answers("sendFile with a callback that throws", (req, res, next, t) => {
        res.sendFile(`${root(t)}/missing.txt`, (error) => {
            t.log(told(error));
            next(new Error("from the callback"));
        });
    }),
    answers("sendFile after the head was sent", (req, res, next, t) => {
        res.write("a");
        res.sendFile(`${root(t)}/hello.txt`, (error) => {
            t.log(told(error));
            res.end("b");
        });
    }),
    answers("sendFile after the head was sent, without a callback", (req, res, next, t) => {
        res.write("a");
        res.sendFile(`${root(t)}/hello.txt`);
    }),
    answers("sendFile after the end", (req, res, next, t) => {
        res.end("a");
        // Which error it is depends on what comes first, the file's stat or the end.
        res.sendFile(`${root(t)}/hello.txt`, (error) => t.log(error ? "called with an error" : "no error"));
    }, [get()], { harness: { ends: "called" } }),
    answers("sendFile twice, one after the other", (req, res, next, t) => {
        res.sendFile(`${root(t)}/hello.txt`, (error) => {
            t.log(`one ${error ? told(error) : "well"}`);
            res.sendFile(`${root(t)}/ten.txt`, (again) => t.log(`two ${again ? "failed" : "well"}`));
        });
    }, [get()], { harness: { ends: "two " } }),
    answers("sendFile events of the response", (req, res, next, t) => {
        res.on("pipe", () => t.log("pipe")).on("unpipe", () => t.log("unpipe")).on("finish", () => t.log("finish")).on("close", () => t.log("close"));
        res.sendFile(`${root(t)}/large.bin`, () => t.log("called"));
    }),
    answers("sendFile with a replaced write and end", (req, res, next, t) => {
        const { write, end } = res;
        let length = 0;
        res.write = function (chunk, ...more) {
            length += chunk.length;
            return write.call(this, chunk, ...more);
        };
        res.end = function (...args) {
            t.log(`end after ${length}, ${args.length}`);
            return end.apply(this, args);
        };
        res.sendFile(`${root(t)}/large.bin`);
    }),
    answers("sendFile where the setting 'etag' is a function", (req, res, next, t) => res.sendFile(`${root(t)}/hello.txt`), [get()], { settings: { etag: () => '"mine"' } }),

    answers("sendfile", (req, res, next, t) => res.sendfile(`${root(t)}/hello.txt`), [get(), head()]),
    answers("sendfile with options", (req, res, next, t) => res.sendfile("hello.txt", { root: root(t), maxAge: 5000, etag: false }), [get()], { only: 4 }),
    answers("sendfile of what needs decoding", (req, res, next, t) => res.sendfile("with%20space/a%20file.txt", { root: root(t) }), [get()], { only: 4 }),
    answers("sendfile of a missing file", (req, res, next, t) => res.sendfile("missing.txt", { root: root(t) }, (error) => {
        t.log(told(error));
        res.end();
    }), [get()], { only: 4 }),

    ...["hello.txt", "ü.txt", "with space/a file.txt", "per%20cent.txt", "semi;colon.txt", "noext", "missing.txt", "sub", ".hidden", "large.bin"].map((file) => download(`of ${file}`, [file])),
    download("with a name", ["hello.txt", "report.pdf"]),
    download("with a path for a name", ["hello.txt", "a/b/c.txt"]),
    download("with a name beyond ASCII", ["hello.txt", "né☃.txt"]),
    download("with a name of quotes", ["hello.txt", 'a"b\\c.txt']),
    download("with an empty name", ["hello.txt", ""]),
    download("with a null name", ["hello.txt", null]),
    download("with a number for a name", ["hello.txt", 5]),
    download("with options for a name", ["hello.txt", { maxAge: 5000, headers: { "x-a": "1", "content-disposition": "inline" } }]),
    download("with a name and options", ["hello.txt", "n.txt", { maxAge: 5000, headers: { "X-A": "1", "Content-Type": "text/x-mine", "Content-Disposition": "inline" } }]),
    download("with dotfiles allowed", [".hidden", { dotfiles: "allow" }]),
    download("with a root", (t) => ["hello.txt", { root: root(t) }]),
    download("with a root and a name", (t) => ["deep/er/file.txt", "n.txt", { root: root(t) }]),
    download("out of a root", (t) => ["../views/hello.ejs", { root: root(t) }]),
    download("with an absolute path and a root", (t) => [`${root(t)}/hello.txt`, { root: root(t) }]),
    download("of nothing", () => []),
    download("of a number", () => [5]),
    download("of an empty path", () => [""]),
    download("with a range", ["ten.txt"], [get("/", { Range: "bytes=2-3" }), head(), get("/", { "If-None-Match": TEN })]),
    download("with options whose prototype has some", (t) => ["hello.txt", Object.create({ root: root(t), maxAge: 5000 })]),
    called("of a file", "hello.txt", {}, [get()], "download"),
    called("of a missing file", "missing.txt", {}, [get()], "download"),
    answers("download(path, callback)", (req, res, next, t) => res.download(`${root(t)}/hello.txt`, (error) => t.log(`called ${shown(error)}`))),
    answers("download(path, name, callback)", (req, res, next, t) => res.download(`${root(t)}/hello.txt`, "n.txt", (error) => t.log(`called ${shown(error)}`))),
    answers("download(path, options, callback)", (req, res, next, t) => res.download("hello.txt", { root: root(t) }, (error) => t.log(`called ${shown(error)}`))),
    answers("download of a missing file, header after the error", (req, res, next, t) => res.download(`${root(t)}/missing.txt`, (error) => {
        t.log(`${told(error)} ${shown(res.get("Content-Disposition"))}`);
        res.status(404).send("none");
    })),
    answers("download calls a replaced sendFile", (req, res, next, t) => {
        res.sendFile = (path, options, done) => {
            t.log(`${path.replace(t.dir, "")} ${JSON.stringify(options.headers)} ${typeof done}`);
            res.end();
        };
        res.download(`${root(t)}/hello.txt`, "n.txt");
    }),
];
