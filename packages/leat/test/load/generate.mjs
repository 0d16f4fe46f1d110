// A bounded load in a process of its own: many keep-alive connections, each asking again as soon as it is answered. A path
// pattern's {id} is a number that no two requests share, and the reply's body must be that number; {hexN} is the same
// number in N hexadecimal digits. `fields` are header fields of every request, filled in likewise.
import { once } from "node:events";
import { start } from "../child.mjs";
import { Connection } from "./connection.mjs";

const WRONG_KEPT_MAX = 5;

/**
 * Asks `requests` times over `connections` connections, or until `seconds` have passed. `patterns` are paths in turn; one
 * that starts with "POST " carries a body in two writes, with "JSON " an object of three fields, one of them `number`. One
 * that starts with "LOST " awaits no reply: its connection is closed `lostMs` later and another one takes its place. With
 * `untilGone`, connections that end, are refused or get a 503 are no fault and not replaced.
 * Resolves to { answered, lost, wrong: [...], cut, seconds }.
 */
export async function load(options) {
    const child = start(new URL(import.meta.url), [JSON.stringify(options)], { lifeMs: ((options.seconds ?? 0) + 120) * 1000 });
    const ended = await child.exit;
    if (ended.code !== 0) throw new Error(`the load ended with ${ended.code ?? ended.signal}: ${ended.stderr}`);
    return JSON.parse(ended.stdout);
}

const filled = (pattern, id) =>
    pattern.includes("{") ? pattern.replace(/\{(id|hex(\d+))\}/g, (_, name, digits) => (name === "id" ? id : id.toString(16).padStart(digits, "0"))) : pattern;

async function generate({ port, connections, requests = Infinity, seconds = Infinity, patterns, lostMs = 200, fields = "", untilGone = false }) {
    const total = { answered: 0, lost: 0, wrong: [], cut: 0, seconds: 0 };
    const started = performance.now();
    const until = started + seconds * 1000;
    let id = 0;

    function refused(error) {
        if (!untilGone) throw error;
    }

    async function ask(connection, pattern, number) {
        const [kind, path] = pattern.includes(" ") ? pattern.split(" ") : ["GET", pattern];
        const target = filled(path, number);
        const head = filled(fields, number);
        if (kind === "POST") {
            const reply = connection.send(`POST ${target} HTTP/1.1\r\nhost: test\r\ncontent-length: 10\r\n${head}\r\nfirst`);
            setImmediate(() => connection.write("other"));
            return reply;
        }
        if (kind === "JSON") {
            const body = `{"name":"leat","kind":"channel","number":${number}}`;
            return connection.send(`POST ${target} HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${head}\r\n${body}`);
        }
        if (kind === "GET") return connection.get(target, head);
        connection.get(target, head).catch(() => {});
        const timer = setTimeout(() => connection.destroy(), lostMs);
        await connection.closed;
        clearTimeout(timer);
        total.lost += 1;
        return undefined;
    }

    async function one() {
        let connection = await Connection.open(port).catch(refused);
        if (connection === undefined) return;
        while (id < requests && performance.now() < until) {
            id += 1;
            const number = id;
            const pattern = patterns[number % patterns.length];
            try {
                const reply = await ask(connection, pattern, number);
                if (untilGone && reply?.status === 503) break;
                if (reply !== undefined) {
                    total.answered += 1;
                    if (reply.body !== String(number) && total.wrong.length < WRONG_KEPT_MAX) total.wrong.push(`${pattern} ${number}: ${reply.status} ${reply.body}`);
                }
            } catch (error) {
                total.cut += 1;
                if (untilGone) break;
                if (total.wrong.length < WRONG_KEPT_MAX) total.wrong.push(`${pattern} ${number}: ${error.message}`);
            }
            if (connection.socket.destroyed) connection = await Connection.open(port);
        }
        connection.destroy();
    }
    await Promise.all(Array.from({ length: connections }, one));
    total.seconds = (performance.now() - started) / 1000;
    return total;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
    const result = await generate(JSON.parse(process.argv[2]));
    process.stdout.write(JSON.stringify(result));
    if (process.stdout.writableNeedDrain) await once(process.stdout, "drain");
}
