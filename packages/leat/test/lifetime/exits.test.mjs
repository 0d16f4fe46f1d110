// When a process with a server ends: the same table for node:http and leat/http. What keeps a process of node:http alive
// are listening handles and sockets, each unless unref'ed.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { start } from "../child.mjs";
import { Connection } from "../load/connection.mjs";

// Under the 5 s of keepAliveTimeout, so that an end by that timer is no pass.
const EXIT_MS_MAX = 4000;
// How long a process that must stay is looked at.
const STAY_MS = 400;
const REST_MS = 1000;

/** A client upgrades, the program closes its server and stays, and the client ends its side. */
async function endsUpgraded(child) {
    const connection = await Connection.open(Number(await child.line("port")));
    assert.equal((await connection.send(UPGRADE)).status, 101);
    child.kill("SIGUSR2");
    await child.line("closing");
    await stays(child);
    assert.equal(await connection.end(), "FIN");
}

async function stays(child) {
    await pause(STAY_MS);
    assert.ok(child.running, `the process ended: ${child.stderr}`);
}

/** A program that holds connections of ours: `clients` names their first requests. */
async function held(child, ...clients) {
    const port = Number(await child.line("port"));
    const open = [];
    for (const path of clients) {
        const connection = await Connection.open(port);
        const reply = connection.get(path);
        if (path === "/slow") await child.line("pending");
        else await reply;
        reply.catch(() => {});
        open.push({ connection, reply });
    }
    return open;
}

/** A client that reads what comes, and keeps its own side open. Resolves to all that came. */
async function lingerer(child, bytes) {
    const socket = connect({ port: Number(await child.line("port")), host: "127.0.0.1", allowHalfOpen: true });
    socket.write(bytes);
    let text = "";
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) text += chunk;
    return text;
}

const UPGRADE = "GET / HTTP/1.1\r\nhost: test\r\nconnection: upgrade\r\nupgrade: test\r\n\r\n";

// `lines` are those of stdout without ports; `drive` acts on the running program; without `code` or `signal` it stays.
const table = [
    { name: "import only", code: 0 },
    { name: "never listens", code: 0 },
    { name: "never listens, closes", code: 0, lines: ["closed ERR_SERVER_NOT_RUNNING"] },
    { name: "listens", stays: true },
    { name: "closes", code: 0, lines: ["event close", "closed  false"] },
    { name: "closes twice", code: 0, lines: ["first ", "second ERR_SERVER_NOT_RUNNING"] },
    { name: "closes before it listens", code: 0, lines: ["event close", "closed ERR_SERVER_NOT_RUNNING"] },
    ...[
        ["says goodbye", "GET / HTTP/1.1\r\nhost: test\r\n\r\n", /hello/],
        ["says goodbye", "GET /destroyed HTTP/1.1\r\nhost: test\r\n\r\n", /^$/],
        ["says goodbye to no request", "1 2 3\r\n\r\n", /^HTTP\/1\.1 400 /],
    ].map(([name, bytes, reply]) => ({
        name,
        what: `${name}, to a client that keeps its side open: ${reply}`,
        code: 0,
        async drive(child) {
            assert.match(await lingerer(child, bytes), reply);
        },
    })),
    { name: "unref", code: 0 },
    { name: "unref before listen", code: 0 },
    { name: "unref, ref", stays: true },
    { name: "two servers, one unref", stays: true },
    { name: "address in use, listened for", code: 0, lines: ["EADDRINUSE listen 127.0.0.1 true listen EADDRINUSE: address already in use 127.0.0.1:PORT"] },
    { name: "address in use", code: 1, stderr: /\nError: listen EADDRINUSE: address already in use 127\.0\.0\.1:\d+\n {4}at [^]*code: 'EADDRINUSE',\n {2}errno: -98,\n {2}syscall: 'listen',\n {2}address: '127\.0\.0\.1',\n {2}port: \d+\n}/ },
    { name: "listens twice", code: 0, lines: ["ERR_SERVER_ALREADY_LISTEN"] },
    { name: "listens again after close", code: 0, lines: ["address ", "address ", "address "] },
    { name: "many servers", code: 0 },
    {
        name: "loaded twice",
        code: 0,
        async drive(child) {
            const answers = [];
            for (let i = 0; i < 2; i += 1) {
                const connection = await Connection.open(Number(await child.line("port")));
                answers.push((await connection.get("/")).body);
                connection.end();
            }
            assert.deepEqual(answers, ["first", "second"]);
            child.kill("SIGUSR2");
        },
    },
    {
        name: "rests",
        what: "a server with a hundred idle connections uses next to no processor time",
        code: 0,
        async drive(child) {
            const idle = await held(child, ...Array(100).fill("/"));
            child.kill("SIGUSR2");
            await pause(REST_MS);
            child.kill("SIGUSR2");
            const busy = Number((await child.line("busy ms")));
            assert.ok(busy < REST_MS / 20, `${busy} ms of ${REST_MS}`);
            for (const { connection } of idle) connection.destroy();
        },
    },
    { name: "abort signal", code: 0, lines: ["event close"] },
    { name: "async dispose", code: 0, lines: ["disposed false"] },
    { name: "socket file", code: 0, lines: ["path true"] },
    { name: "exit events", code: 0, lines: ["beforeExit 0", "exit 0"] },
    { name: "exit code", code: 7 },
    { name: "throws after listen", code: 1, stderr: /Error: after listen\n {4}at throws after listen/ },
    {
        name: "close on step",
        what: "idle keep-alive connections end with close()",
        code: 0,
        lines: ["closing", "event close"],
        async drive(child) {
            const idle = await held(child, "/", "/");
            child.kill("SIGUSR2");
            for (const { connection } of idle) assert.equal(await connection.closed, "FIN");
        },
    },
    {
        name: "close on step",
        what: "a pending request holds the process until it is answered",
        code: 0,
        lines: ["pending 1", "closing", "event close"],
        async drive(child) {
            const [{ connection, reply }] = await held(child, "/slow");
            child.kill("SIGUSR2");
            await child.line("closing");
            await stays(child);
            child.kill("SIGUSR2");
            assert.equal((await reply).body, "late");
            // Answered as a keep-alive connection, it may stay for keepAliveTimeout.
            connection.end();
        },
    },
    {
        name: "close on step",
        what: "a pending request whose client leaves holds nothing",
        code: 0,
        lines: ["pending 1", "closing", "event close"],
        async drive(child) {
            const [{ connection }] = await held(child, "/slow");
            child.kill("SIGUSR2");
            await child.line("closing");
            connection.destroy();
        },
    },
    {
        name: "close on step",
        what: "half a request holds the process",
        async drive(child) {
            const port = Number(await child.line("port"));
            const connection = await Connection.open(port);
            connection.write("GET / HTTP/1.1\r\nhost:");
            const other = await Connection.open(port);
            await other.get("/");
            child.kill("SIGUSR2");
            await child.line("closing");
            await stays(child);
            connection.destroy();
        },
        lines: ["closing", "event close"],
        code: 0,
    },
    {
        name: "close all on step",
        code: 0,
        lines: ["pending 1", "event close"],
        async drive(child) {
            const open = await held(child, "/slow", "/");
            child.kill("SIGUSR2");
            for (const { connection } of open) assert.match(await connection.closed, /^(FIN|ECONNRESET)$/);
            await assert.rejects(open[0].reply, { name: "Error" });
        },
    },
    {
        name: "close idle on step",
        code: 0,
        lines: ["pending 1", "closed idle"],
        async drive(child) {
            const [slow, idle] = await held(child, "/slow", "/");
            child.kill("SIGUSR2");
            assert.equal(await idle.connection.closed, "FIN");
            await child.line("closed idle");
            await stays(child);
            child.kill("SIGUSR2");
            assert.equal((await slow.reply).body, "late");
            slow.connection.end();
        },
    },
    {
        name: "close in a handler",
        code: 0,
        lines: ["closed"],
        async drive(child) {
            const [{ reply, connection }] = await held(child, "/");
            const { body, headers } = await reply;
            assert.deepEqual([body, headers.connection], ["bye", "keep-alive"]);
            connection.end();
        },
    },
    {
        name: "unref on step",
        what: "a kept connection holds the process, until it ends",
        code: 0,
        lines: ["unref"],
        async drive(child) {
            const [{ connection }] = await held(child, "/");
            child.kill("SIGUSR2");
            await child.line("unref");
            await stays(child);
            connection.end();
        },
    },
    {
        name: "unref on step",
        what: "a pending request holds the process, until its client leaves",
        code: 0,
        lines: ["pending 1", "unref"],
        async drive(child) {
            const [{ connection }] = await held(child, "/slow");
            child.kill("SIGUSR2");
            await child.line("unref");
            await stays(child);
            connection.destroy();
        },
    },
    {
        name: "everything unref",
        code: 0,
        async drive(child) {
            const [{ connection }] = await held(child, "/");
            assert.match(await connection.closed, /^(FIN|ECONNRESET)$/);
        },
    },
    {
        name: "keeps an upgraded socket",
        what: "closeAllConnections leaves an upgraded socket, which holds the process until it ends",
        code: 0,
        lines: ["closing", "event close"],
        drive: endsUpgraded,
    },
    {
        name: "leaves an upgraded socket",
        what: "it holds the process only until the client has ended its side",
        code: 0,
        lines: ["closing", "end true"],
        drive: endsUpgraded,
    },
    {
        name: "answers the end of an upgraded socket",
        what: "later, and is held until that is sent",
        code: 0,
        lines: ["closing", "ended", "event close"],
        async drive(child) {
            const connection = await Connection.open(Number(await child.line("port")));
            assert.equal((await connection.send(UPGRADE)).status, 101);
            child.kill("SIGUSR2");
            await child.line("closing");
            assert.equal(await connection.end(), "FIN");
        },
    },
    {
        name: "listens",
        what: "process.exit() in a handler, with other requests pending",
        code: 3,
        lines: ["pending 1", "pending 2"],
        async drive(child) {
            const open = await held(child, "/slow", "/slow", "/");
            open[2].connection.get("/exit").catch(() => {});
            for (const { connection } of open) assert.match(await connection.closed, /^(FIN|ECONNRESET)$/);
        },
    },
    ...["SIGTERM", "SIGINT", "SIGHUP"].map((signal) => ({
        name: "listens",
        what: `${signal} ends it, with a request pending`,
        signal,
        lines: ["pending 1"],
        async drive(child) {
            const open = await held(child, "/slow", "/");
            child.kill(signal);
            for (const { connection } of open) assert.match(await connection.closed, /^(FIN|ECONNRESET)$/);
        },
    })),
];

/** Where `leat run` ends another way, and why: such a case must fail there, until it stands here no more. */
const onEmbedded = {
    "address in use": "what is written of an uncaught error has no line of the source in front",
    "listens: SIGTERM ends it, with a request pending": "it answers what is under way first, as its manual says",
    "listens: SIGINT ends it, with a request pending": "it answers what is under way first, as its manual says",
};
const exceptions = process.env.LEAT_SUBJECT === "embedded" ? onEmbedded : {};
const titles = table.map(({ name, what }) => (what === undefined ? name : `${name}: ${what}`));

test("every exception names a case", () => {
    for (const title of Object.keys(exceptions)) assert.ok(titles.includes(title), `no case is called ${title}`);
});

for (const { name, what, drive, code = null, signal = null, lines = [], stderr = /^$/, ...row } of table) {
    const title = what === undefined ? name : `${name}: ${what}`;
    const why = exceptions[title];
    test(title, async () => {
        if (why === undefined) return play();
        const message = `${title} differs no more; take it off (${why})`;
        await assert.rejects(play(), (error) => error instanceof Error, message);
    });

    async function play() {
        const child = start(new URL("programs.mjs", import.meta.url), [name], { lifeMs: why === undefined ? 10_000 : EXIT_MS_MAX });
        try {
            if (row.stays) {
                await child.line("port");
                await stays(child);
                return;
            }
            await drive?.(child);
            const ended = await child.exit;
            assert.match(ended.stderr, stderr);
            assert.deepEqual({ code: ended.code, signal: ended.signal }, { code, signal });
            assert.deepEqual(ended.stdout.split("\n").filter((line) => line !== "" && !/^(port|busy ms) /.test(line)), lines);
            assert.ok(ended.ms < EXIT_MS_MAX, `it took ${Math.round(ended.ms)} ms to end`);
        } finally {
            child.kill();
        }
    }
}
