// Programs that fetch the same on Node.js and on `leat run`, from a server of this test: what they print must be equal.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createServer as createTCP } from "node:net";
import { readdirSync } from "node:fs";
import { once } from "node:events";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { leat } from "./binary.mjs";

const folder = fileURLToPath(new URL("clients", import.meta.url));
const RUN_MS_MAX = 30_000;
const picked = process.env.CLIENT ?? "";
const text = "leat ".repeat(40_000);
const CODED = { gzip: gzipSync(text), deflate: deflateSync(text), raw: deflateRawSync(text), br: brotliCompressSync(text) };

/** Sockets of a connection are numbered, so that a program can print whether one was used again. */
const sockets = new WeakMap();
let count = 0;

const ways = {
    async "/echo"(req, res) {
        const pieces = [];
        for await (const piece of req) pieces.push(piece);
        const { host: _host, ...headers } = req.headers;
        // The boundary of a form is another one each time.
        const body = Buffer.concat(pieces).toString("latin1").replace(/-+formdata-[\w-]+?(?=-*\r\n)/g, "BOUNDARY");
        if (/multipart/.test(headers["content-type"])) {
            headers["content-type"] = headers["content-type"].replace(/boundary=.*/, "boundary=X");
            delete headers["content-length"];
        }
        res.setHeader("content-type", "application/json").end(JSON.stringify({ method: req.method, url: req.url, headers, body }));
    },
    "/hello": (_req, res) => res.setHeader("x-a", ["1", "2"]).setHeader("set-cookie", ["a=1", "b=2"]).end("hello"),
    "/socket": (req, res) => {
        if (!sockets.has(req.socket)) sockets.set(req.socket, (count += 1));
        res.end(String(sockets.get(req.socket)));
    },
    "/status": (req, res) => void res.writeHead(Number(new URL(req.url, "http://a").searchParams.get("code")), "As asked").end(),
    "/redirect": (req, res) => {
        const { searchParams } = new URL(req.url, "http://a");
        res.writeHead(Number(searchParams.get("code")), { location: searchParams.get("to") }).end("moved");
    },
    "/loop": (_req, res) => res.writeHead(302, { location: "/loop" }).end(),
    "/coded": (req, res) => {
        const how = new URL(req.url, "http://a").searchParams.get("how");
        res.writeHead(200, { "content-encoding": how === "raw" ? "deflate" : how }).end(CODED[how] ?? "plain");
    },
    "/pieces": (_req, res) => {
        let left = 5;
        const next = () => {
            if ((left -= 1) < 0) return res.end();
            res.write(`piece ${left};`, () => setImmediate(next));
        };
        next();
    },
    "/big": (_req, res) => {
        const piece = Buffer.alloc(64 * 1024, "x");
        let left = 160;
        const next = () => {
            while (left > 0) {
                left -= 1;
                if (!res.write(piece)) return res.once("drain", next);
            }
            res.end();
        };
        next();
    },
    "/never": () => {},
    "/begins": (_req, res) => res.write("begins"),
    "/cut": (_req, res) => {
        res.writeHead(200, { "content-length": 100 });
        res.write("short", () => res.destroy());
    },
    "/reset": (req) => req.socket.destroy(),
    "/early": (_req, res) => res.writeEarlyHints({ link: "</a.css>; rel=preload" }, () => res.end("late")),
    "/continue": async (req, res) => {
        for await (const _piece of req);
        res.end("went on");
    },
    "/trailers": (_req, res) => {
        res.writeHead(200, { trailer: "x-sum" });
        res.write("body");
        res.addTrailers({ "x-sum": "5" });
        res.end();
    },
};

const server = createServer((req, res) => {
    const way = ways[req.url.split("?")[0]];
    if (way === undefined) res.writeHead(404).end("nothing here");
    else way(req, res);
});
server.on("upgrade", (_req, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nfirst");
    socket.on("data", (bytes) => socket.write(bytes));
    socket.on("end", () => socket.end());
    socket.on("error", () => {});
});
const nonsense = createTCP((socket) => socket.on("error", () => {}).end("nonsense\r\n\r\n"));
const closed = createTCP();
let env = {};

before(async () => {
    for (const each of [server, nonsense, closed]) await once(each.listen(0, "127.0.0.1"), "listening");
    env = { ...process.env, NODE_NO_WARNINGS: "1", NO_COLOR: "1", ORIGIN: `http://127.0.0.1:${server.address().port}`, NONSENSE: `http://127.0.0.1:${nonsense.address().port}`, CLOSED: `http://127.0.0.1:${closed.address().port}` };
    await new Promise((resolve) => closed.close(resolve));
});
after(() => {
    server.closeAllConnections();
    server.close();
    nonsense.close();
});

function run(program, args) {
    return new Promise((resolve) => {
        const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"], timeout: RUN_MS_MAX });
        let stdout = "";
        let stderr = "";
        child.stdout.on("data", (bytes) => void (stdout += bytes));
        child.stderr.on("data", (bytes) => void (stderr += bytes));
        child.on("error", (error) => resolve({ stdout, stderr: String(error), code: null }));
        child.on("close", (code, signal) => resolve({ stdout, stderr, code: signal ?? code }));
    });
}

for (const name of readdirSync(folder).filter((name) => name.includes(picked)).sort()) {
    test(name, async () => {
        const node = await run(process.execPath, [name]);
        count = 0;
        const ours = await run(leat, ["run", name]);
        count = 0;
        assert.equal(node.code, 0, node.stderr);
        assert.match(node.stdout, /\["done"\]\n$/, "the program did not come to its end on Node.js");
        assert.equal(ours.stdout, node.stdout, `stdout differs; stderr of leat run: ${ours.stderr.slice(0, 4000)}`);
        assert.equal(ours.code, node.code, `exit code differs; stderr of leat run: ${ours.stderr.slice(0, 4000)}`);
    });
}
