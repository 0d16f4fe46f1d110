// The service that is called: it wants a token, is busy at times, and compresses what is long.
"use strict";
const { createServer } = require("node:http");
const { gzipSync } = require("node:zlib");

const ITEMS = new Map([["flour", { grams: 1000 }], ["bran", { grams: 200 }]]);

/** Makes the service. `counts` tells what it was asked. */
function depot({ key, tokenCallsMax = 5 }) {
    const counts = { tokens: 0, busy: 0, orders: 0 };
    const seen = new Set();
    let token = "";
    let callsLeft = 0;

    const server = createServer(async (request, response) => {
        const { pathname } = new URL(request.url, "http://depot");
        if (pathname === "/token") {
            if (request.headers["x-api-key"] !== key) return send(response, 403, { error: "wrong key" });
            token = `token-${++counts.tokens}`;
            callsLeft = tokenCallsMax;
            return send(response, 200, { token });
        }
        // A token is good for some calls, and then has to be renewed.
        if (request.headers.authorization !== `Bearer ${token}` || callsLeft-- <= 0) return send(response, 401, { error: "no token" });
        if (pathname === "/orders" && request.method === "POST") {
            const chunks = await request.toArray();
            counts.orders += 1;
            return send(response, 201, { number: counts.orders, ...JSON.parse(Buffer.concat(chunks)) });
        }
        if (pathname === "/leaflet") return send(response, 200, { text: "Grind slowly. ".repeat(1000) }, gzipSync);
        const name = pathname.slice("/items/".length);
        // The first time that it is asked for anything, it is busy.
        if (!seen.has(name)) {
            seen.add(name);
            counts.busy += 1;
            response.setHeader("retry-after", "0");
            return send(response, 503, { error: "busy" });
        }
        const item = ITEMS.get(name);
        return item === undefined ? send(response, 404, { error: `no ${name} here` }) : send(response, 200, { name, ...item });
    });
    return { server, counts };
}

function send(response, status, value, compress) {
    const body = JSON.stringify(value);
    response.writeHead(status, { "content-type": "application/json", ...(compress && { "content-encoding": "gzip" }) });
    response.end(compress ? compress(body) : body);
}

module.exports = { depot };
