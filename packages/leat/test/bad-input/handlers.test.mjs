// Each handler that does what it should not runs on node:http and on the subject: same notes in the same order, same
// reply, same errors in the process; and afterwards nothing is left open.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { start } from "../child.mjs";
import { Connection, Cut } from "../load/connection.mjs";
import { subject } from "../subject.mjs";
import { within } from "../within.mjs";
import { cases } from "./handlers.mjs";

const LIFE_MS_MAX = 120_000;
const CLOSED_POLLS_MAX = 200;
const GET = "GET / HTTP/1.1\r\nhost: test\r\n\r\n";

/** One server of each kind, replaced when it let a case down. */
const sides = new Map([...new Set(["node:http", subject])].map((name) => [name, undefined]));
after(() => {
    for (const side of sides.values()) side?.child.kill();
});

async function serving(name) {
    if (sides.get(name) === undefined) {
        const child = start(new URL("server.mjs", import.meta.url), [], { ipc: true, lifeMs: LIFE_MS_MAX, env: { LEAT_SUBJECT: name } });
        sides.set(name, { child, port: (await child.message("port")).port });
    }
    return sides.get(name);
}

async function judged(name, number) {
    try {
        return await run(await serving(name), number);
    } catch (error) {
        sides.get(name)?.child.kill();
        sides.set(name, undefined);
        throw error;
    }
}

/** Runs case `number` on one side. */
async function run({ child, port }, number) {
    const { request = GET, head = false, partial, leaves, uncaught = [], unhandled = [] } = cases[number];
    const connection = await Connection.open(port);
    let read = "";
    const enough = new Promise((resolve) => connection.socket.on("data", (chunk) => {
        read += chunk.toString("latin1");
        if (partial?.test(read)) resolve();
    }));
    const reply = connection.send(request.replace("host: test\r\n", `host: test\r\nx-case: ${number}\r\n`), { head }).catch((error) => error);
    await child.message("begun");
    const result = {
        uncaught: (await child.several("uncaught", uncaught.length)).map(({ error }) => error),
        unhandled: (await child.several("unhandled", unhandled.length)).map(({ error }) => error),
    };
    if (leaves) {
        if (partial) await within(enough, "the part");
        await (leaves === "reset" ? connection.reset() : connection.destroy());
        if (partial) assert.match(read, partial);
    } else {
        const got = await within(reply, "the reply");
        if (got instanceof Cut) result.cut = got.code;
        else result.reply = { status: got.status, line: got.line, headers: { ...got.headers, date: undefined }, body: got.body };
        await connection.destroy();
    }
    const seen = await child.message("seen");
    assert.equal(seen.number, number);
    result.seen = seen.seen;
    // More than there should be: an error that came twice, or one that belongs to no case.
    result.more = [...child.messages("uncaught"), ...child.messages("unhandled")];
    return result;
}

for (const [number, { name, reply, cut, uncaught = [], unhandled = [] }] of cases.entries()) {
    test(name, async () => {
        const reference = await judged("node:http", number);
        assert.deepEqual(reference.more, []);
        assert.deepEqual(reference.uncaught, uncaught);
        assert.deepEqual(reference.unhandled, unhandled);
        if (cut) assert.match(reference.cut, cut);
        if (reply) {
            const { headers = {}, ...rest } = reply;
            for (const [key, value] of Object.entries(rest)) assert.equal(reference.reply[key], value);
            for (const [key, value] of Object.entries(headers)) assert.equal(reference.reply.headers[key], value);
        }
        const measured = await judged(subject, number);
        assert.deepEqual(measured, reference);
    });
}

for (const name of sides.keys()) {
    test(`${name} has nothing open after all of them`, async () => {
        const { child } = await serving(name);
        let open;
        for (let i = 0; i < CLOSED_POLLS_MAX; i += 1) {
            child.send("open?");
            open = await child.message("open");
            if (open.count === 0 && Object.values(open.engine).every((count) => count === 0)) break;
        }
        assert.equal(open.count, 0);
        for (const [metric, count] of Object.entries(open.engine)) assert.equal(count, 0, `${metric} is ${count}`);
        assert.equal(Object.keys(open.engine).length, name === "node:http" ? 0 : 3);
        assert.equal(child.stderr, "");
    });
}
