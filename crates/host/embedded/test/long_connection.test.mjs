// A connection that stays: what one request leaves must not be in the way of a later one.
import assert from "node:assert/strict";
import { connect } from "node:net";
import test from "node:test";
import { folder, start } from "./started.mjs";

const SERVER = `
const http = require("node:http");
let count = 0;
http.createServer((request, response) => {
    count += 1;
    response.end(String(count).padStart(5, "0"));
}).listen(0, "127.0.0.1", function () { console.log("listening " + this.address().port); });
`;

/** Asks so many times on one connection, one after the other; the last reply. */
function askOften(port, times) {
    return new Promise((resolve, reject) => {
        const socket = connect({ port, host: "127.0.0.1", noDelay: true });
        const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let [left, text] = [times, ""];
        socket.on("connect", () => socket.write(request)).on("error", reject).on("close", () => reject(new Error(`closed with ${left} to ask`)));
        socket.setEncoding("latin1").on("data", (piece) => {
            text += piece;
            const body = /\r\n\r\n(.{5})$/.exec(text)?.[1];
            if (body === undefined) return;
            left -= 1;
            text = "";
            if (left > 0) {
                socket.write(request);
                return;
            }
            resolve(body);
            socket.destroy();
        });
    });
}

test("one connection asks 10,000 times", { timeout: 60_000 }, async (t) => {
    const program = start(t, folder(t, { "app.cjs": SERVER }), ["app.cjs"]);
    assert.equal(await askOften(await program.port(), 10_000), "10000");
});
