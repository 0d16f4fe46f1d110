// The files that cases serve and render. They are written for each run, all with one time, since a file's ETag holds its time.
import { mkdirSync, readdirSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const WHEN = new Date("2020-01-02T03:04:05.678Z");
/** As HTTP writes it. */
export const WHEN_TEXT = WHEN.toUTCString();
/** The ETag of one of these files, by its length in bytes. */
export const etagOf = (length) => `W/"${length.toString(16)}-${WHEN.getTime().toString(16)}"`;

const LARGE = 300_000;
/** More than any buffers on the way hold, and nothing on a disk: the file has no blocks. */
const ENDLESS = 2 ** 30;

const FILES = {
    "static/hello.txt": "hello, world\n",
    "static/ten.txt": "0123456789",
    "static/empty.txt": "",
    "static/index.html": "<!DOCTYPE html><p>index</p>\n",
    "static/default.htm": "default\n",
    "static/style.css": "p { color: red }\n",
    "static/app.js": "console.log(1);\n",
    "static/mod.mjs": "mjs\n",
    "static/mod.wasm": "wasm",
    "static/data.json": '{"a":1}\n',
    "static/table.csv": "a,b\n",
    "static/doc.xml": "<x/>",
    "static/read.md": "# md\n",
    "static/image.svg": "<svg/>\n",
    "static/pic.png": Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]),
    "static/archive.tar.gz": "x\n",
    "static/noext": "no extension\n",
    "static/unknown.zzz": "unknown\n",
    "static/upper.HTML": "upper\n",
    "static/page.html": "<p>page</p>\n",
    "static/page.txt": "text page\n",
    "static/page/inside.txt": "in page\n",
    "static/sub/index.html": "<p>sub</p>\n",
    "static/sub/other.txt": "sub other\n",
    "static/bare/file.txt": "bare\n",
    "static/deep/er/file.txt": "deep\n",
    "static/.hidden": "hidden\n",
    "static/.dir/file.txt": "in a dot folder\n",
    "static/..two": "two dots\n",
    "static/with space/a file.txt": "space\n",
    "static/ü.txt": "umlaut\n",
    "static/per%20cent.txt": "percent\n",
    "static/semi;colon.txt": "semi\n",
    "static/a+b&c=d.txt": "plus\n",
    "static/large.bin": Buffer.from(Array.from({ length: LARGE }, (_, at) => at % 251)),
    "endless/zeros.bin": "",
    "second/hello.txt": "hello from the second folder\n",
    "second/only.txt": "only in the second folder\n",
    "views/hello.ejs": "Hello <%= name %>!",
    "views/locals.ejs": "<%= settings.title %> <%= from %> <%= local %>",
    "views/throws.ejs": '<% throw new Error("in the view") %>',
    "views/includes.ejs": '<%- include("hello", { name: "inner" }) %>',
    "views/page.html": "html <%= name %>",
    "views/plain.tmpl": "plain {name}",
    "views/both.tmpl": "first {name}",
    "views/a.b.tmpl": "dotted {name}",
    "views/bare.txt": "{name}",
    "views/lonely.nosuchengine": "no engine",
    "views/folder/index.tmpl": "index of folder {name}",
    "views/section/other.tmpl": "other {name}",
    "views2/both.tmpl": "second {name}",
    "views2/only.tmpl": "only second {name}",
};

/** Writes all of them below `folder`. */
export function writeFiles(folder) {
    for (const [path, content] of Object.entries(FILES)) {
        const file = join(folder, path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, content, { mode: 0o644 });
    }
    truncateSync(join(folder, "endless/zeros.bin"), ENDLESS);
    for (const path of readdirSync(folder, { recursive: true })) utimesSync(join(folder, path), WHEN, WHEN);
}
