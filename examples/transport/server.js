// A shop that asks the depot for everything. Both run here, so that it can be tried at once.
"use strict";
const { createServer } = require("node:http");
const { once } = require("node:events");
const { DepotClient } = require("./client");
const { depot } = require("./depot");

const key = process.env.DEPOT_KEY ?? "a key for trying";

async function main() {
    const { server, counts } = depot({ key });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const calls = [];
    const client = new DepotClient({ nodes: `http://127.0.0.1:${server.address().port}`, key, onCall: (call) => calls.push(call) });

    const shop = createServer(async (request, response) => {
        const { pathname } = new URL(request.url, "http://shop");
        const [, what, name] = pathname.split("/");
        try {
            if (what === "items") return reply(response, (await client.item(name)) ?? 404);
            if (what === "order") return reply(response, await client.order(name, 1));
            if (what === "leaflet") return reply(response, { letters: (await client.leaflet()).length });
            if (what === "stats") return reply(response, { calls: calls.length, tries: client.transport.nodes()[0].tries, ...counts });
            return reply(response, 404);
        } catch (error) {
            // One kind of error, with a code to act on, and no secret in it.
            console.error(error);
            return reply(response, error.code === "call.deadline" ? 504 : 502);
        }
    });
    shop.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => console.log(`http://127.0.0.1:${shop.address().port}`));
    for (const signal of ["SIGINT", "SIGTERM"]) {
        process.once(signal, async () => {
            shop.close();
            await client.close();
            server.close();
        });
    }
}

function reply(response, value) {
    response.statusCode = typeof value === "number" ? value : 200;
    response.setHeader("content-type", "application/json");
    response.end(typeof value === "number" ? "{}" : JSON.stringify(value));
}

main();
