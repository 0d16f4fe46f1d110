// The service: orders, by an Express app that knows nothing of keys, limits or other servers.
import express from "express";

const { NAME = "orders", PORT = "18112", HOST = "127.0.0.1" } = process.env;
const app = express();
app.use(express.json());

let busy = false;
let orders = 0;

app.get("/healthz", (request, response) => response.send("ok"));
app.get("/orders", (request, response) => response.json({ from: NAME, partner: request.get("x-partner"), orders }));
// Every second look at the stock fails: what a client sees of that is up to the gateway.
app.get("/orders/stock", (request, response) => {
    busy = !busy;
    if (busy) return response.sendStatus(503);
    return response.json({ flour: 12 });
});
app.post("/orders", (request, response) => {
    orders += 1;
    response.status(201).json({ from: NAME, number: orders, item: String(request.body?.item).slice(0, 100) });
});

const server = app.listen(Number(PORT), HOST, () => console.log(`${NAME} on http://${HOST}:${server.address().port}`));
process.on("SIGTERM", () => server.close(() => process.exit(0)));
