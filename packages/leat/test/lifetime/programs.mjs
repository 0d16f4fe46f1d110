// Small server programs for exits.test.mjs, each run in a process of its own: `node programs.mjs NAME`. They print what
// happens, one event a line. SIGUSR2 makes one go to its next step: unlike a request it needs no connection.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { http, specifier } from "../subject.mjs";

const say = (...words) => console.log(words.join(" "));
const step = () => once(process, "SIGUSR2");
const pending = [];

function handle(req, res) {
    if (req.url === "/slow") return say("pending", pending.push(res));
    if (req.url === "/exit") return process.exit(3);
    return res.end("hello");
}

async function up(server = http.createServer(handle), ...options) {
    server.listen(...(options.length > 0 ? options : [0, "127.0.0.1"]));
    await once(server, "listening");
    say("port", server.address().port);
    return server;
}

const programs = {
    "import only"() {},

    "never listens"() {
        http.createServer(handle);
    },

    async "never listens, closes"() {
        const server = http.createServer(handle);
        server.close((error) => say("closed", error.code));
    },

    async "listens"() {
        await up();
    },

    async "closes"() {
        const server = await up();
        server.on("close", () => say("event close"));
        server.close((error) => say("closed", error, server.listening));
    },

    async "says goodbye"() {
        const server = await up(http.createServer((req, res) => {
            if (req.url === "/destroyed") req.socket.destroy();
            else res.writeHead(200, { connection: "close" }).end("hello");
            server.close();
        }));
    },

    async "says goodbye to no request"() {
        const server = await up();
        server.on("connection", () => server.close());
    },

    async "closes twice"() {
        const server = await up();
        server.close((error) => say("first", error));
        server.close((error) => say("second", error.code));
    },

    "closes before it listens"() {
        const server = http.createServer(handle);
        for (const event of ["listening", "close"]) server.on(event, () => say("event", event));
        server.listen(0, "127.0.0.1");
        server.close((error) => say("closed", error?.code));
    },

    async "unref"() {
        (await up()).unref();
    },

    "unref before listen"() {
        http.createServer(handle).unref().listen(0, "127.0.0.1");
    },

    async "unref, ref"() {
        (await up()).unref().ref();
    },

    async "two servers, one unref"() {
        (await up()).unref();
        await up();
    },

    async "address in use, listened for"() {
        const first = await up();
        const second = http.createServer(handle);
        second.on("error", ({ code, syscall, address, port, message }) => {
            say(code, syscall, address, port === first.address().port, message.replace(String(port), "PORT"));
            first.close();
        });
        second.listen(first.address().port, "127.0.0.1");
    },

    async "address in use"() {
        const first = await up();
        http.createServer(handle).listen(first.address().port, "127.0.0.1");
    },

    async "listens twice"() {
        const server = await up();
        try {
            server.listen(0, "127.0.0.1");
        } catch (error) {
            say(error.code);
        }
        server.close();
    },

    async "listens again after close"() {
        const server = await up();
        for (let i = 0; i < 3; i += 1) {
            server.close();
            await once(server, "close");
            say("address", server.address());
            await up(server);
        }
        server.close();
    },

    async "many servers"() {
        const servers = await Promise.all(Array.from({ length: 50 }, () => up()));
        for (const server of servers) server.close();
    },

    // As Jest does for each test file, and as two packages do that bring a copy each.
    async "loaded twice"() {
        const require = createRequire(import.meta.url);
        for (const key of Object.keys(require.cache)) if (!key.includes("/test/")) delete require.cache[key];
        const second = require(specifier);
        const servers = [];
        for (const [name, { createServer }] of Object.entries({ first: http, second })) {
            servers.push(await up(createServer((req, res) => res.end(name))));
        }
        await step();
        for (const server of servers) server.close();
    },

    // Its connections ask for nothing, and neither should it.
    async "rests"() {
        await up();
        await step();
        const before = process.cpuUsage();
        await step();
        const { user, system } = process.cpuUsage(before);
        say("busy ms", Math.round((user + system) / 1000));
        process.exit(0);
    },

    async "abort signal"() {
        const abort = new AbortController();
        const server = await up(undefined, { port: 0, host: "127.0.0.1", signal: abort.signal });
        server.on("close", () => say("event close"));
        abort.abort();
    },

    async "async dispose"() {
        const server = await up();
        await server[Symbol.asyncDispose]();
        say("disposed", server.listening);
    },

    async "socket file"() {
        const folder = mkdtempSync(join(tmpdir(), "leat-"));
        process.on("exit", () => rmSync(folder, { recursive: true }));
        const server = http.createServer(handle);
        server.listen(join(folder, "socket"));
        await once(server, "listening");
        say("path", server.address() === join(folder, "socket"));
        server.close();
    },

    async "exit events"() {
        process.on("beforeExit", (code) => say("beforeExit", code));
        process.on("exit", (code) => say("exit", code));
        (await up()).close();
    },

    async "exit code"() {
        process.exitCode = 7;
        (await up()).close();
    },

    async "throws after listen"() {
        const server = await up();
        server.on("request", () => {});
        throw new Error("after listen");
    },

    // From here on the parent holds connections.

    async "close on step"() {
        const server = await up();
        server.on("close", () => say("event close"));
        await step();
        server.close();
        say("closing");
        await step();
        for (const res of pending) res.end("late");
    },

    async "close all on step"() {
        const server = await up();
        server.on("close", () => say("event close"));
        await step();
        server.close();
        server.closeAllConnections();
    },

    async "close idle on step"() {
        const server = await up();
        await step();
        server.closeIdleConnections();
        say("closed idle");
        await step();
        server.close();
        for (const res of pending) res.end("late");
    },

    async "close in a handler"() {
        const server = await up(http.createServer((req, res) => {
            server.close(() => say("closed"));
            res.end("bye");
        }));
    },

    async "unref on step"() {
        const server = await up();
        await step();
        server.unref();
        say("unref");
    },

    async "everything unref"() {
        const server = await up(http.createServer((req, res) => {
            req.socket.unref();
            res.end("hello", () => server.unref());
        }));
    },

    async "keeps an upgraded socket"() {
        const server = http.createServer(handle);
        server.on("upgrade", (req, socket) => {
            socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: test\r\nConnection: Upgrade\r\n\r\n");
            socket.on("end", () => socket.end());
        });
        server.on("close", () => say("event close"));
        await up(server);
        await step();
        server.close();
        server.closeAllConnections();
        say("closing");
    },

    async "leaves an upgraded socket"() {
        const server = http.createServer(handle);
        server.on("upgrade", (req, socket) => {
            socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: test\r\nConnection: Upgrade\r\n\r\n");
            socket.on("end", () => say("end", socket.writable));
        });
        server.on("close", () => say("event close"));
        await up(server);
        await step();
        server.close();
        say("closing");
    },

    async "answers the end of an upgraded socket"() {
        const server = http.createServer(handle);
        server.on("upgrade", (req, socket) => {
            socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: test\r\nConnection: Upgrade\r\n\r\n");
            socket.on("end", () => setTimeout(() => socket.end("last words", () => say("ended")), 100));
        });
        server.on("close", () => say("event close"));
        await up(server);
        await step();
        server.close();
        say("closing");
    },

    // Ends in the middle of a load, at the request whose number is given.
    async "exits after"() {
        await up(counting(() => process.exit(4)));
    },

    async "throws after"() {
        await up(counting(() => { throw new Error("in a handler"); }));
    },

    async "kills itself after"() {
        await up(counting(() => process.kill(process.pid, "SIGTERM")));
    },

    async "closes after"() {
        const server = await up(counting(() => {
            server.close();
            server.closeAllConnections();
        }));
    },
};

/** Answers at once, a turn later, or in two parts; request number `argv[3]` does `last`. */
function counting(last) {
    const limit = Number(process.argv[3]);
    let count = 0;
    return http.createServer((req, res) => {
        count += 1;
        const body = req.url.slice(1);
        if (count === limit) last();
        if (count % 3 === 0) setImmediate(() => res.end(body));
        else if (count % 7 === 0) {
            res.write(body.slice(0, 1));
            setImmediate(() => res.end(body.slice(1)));
        } else res.end(body);
    });
}

// Not awaited: a module that never settles ends the process with code 13.
programs[process.argv[2]]();
