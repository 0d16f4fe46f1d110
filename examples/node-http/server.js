// Notes over HTTP. `require("node:http")` in place of "leat/http", without the metrics, is the same program on Node's server.
const { once } = require("node:events");
const { createServer, metrics } = require("leat/http");
const { subscribe } = require("./events");
const notes = require("./notes");
const { ReplyError, send } = require("./reply");
const uploads = require("./uploads");

/** Method and path, as a pattern whose group is handed over, to what answers. */
const ROUTES = [
    ["GET", /^\/notes$/, notes.list],
    ["POST", /^\/notes$/, notes.create],
    ["GET", /^\/notes\/(\d{1,9})$/, notes.show],
    ["DELETE", /^\/notes\/(\d{1,9})$/, notes.remove],
    ["PUT", /^\/files\/([\w-][\w.-]{0,63})$/, uploads.store],
    ["GET", /^\/files\/([\w-][\w.-]{0,63})$/, uploads.fetch],
    ["GET", /^\/events$/, (_request, response) => subscribe(response)],
    ["GET", /^\/metrics$/, (_request, response) => response.setHeader("content-type", "text/plain; version=0.0.4").end(metrics())],
];

async function answer(request, response) {
    const [path] = request.url.split("?", 1);
    const there = ROUTES.filter(([, pattern]) => pattern.test(path));
    const route = there.find(([method]) => method === request.method);
    try {
        if (there.length === 0) throw new ReplyError(404, "there is nothing here");
        if (route === undefined) throw new ReplyError(405, `${request.method} is not possible here`, { allow: there.map(([method]) => method).join(", ") });
        const [, pattern, handler] = route;
        await handler(request, response, pattern.exec(path)[1]);
    } catch (error) {
        // Nobody is left to be told, or the reply has begun and can only be cut off.
        if (request.destroyed && !request.complete) return;
        if (response.headersSent) return void response.destroy();
        if (!(error instanceof ReplyError)) console.error(error);
        const { status, fields, message } = error instanceof ReplyError ? error : { status: 500, message: "this went wrong here" };
        send(response, status, { error: message }, fields);
    }
}

const server = createServer(answer);

for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
        server.close(() => process.exit());
        // Events would go on for ever.
        server.closeAllConnections();
    });
}

server.listen(Number(process.env.PORT ?? 3000), process.env.HOST ?? "127.0.0.1");
once(server, "listening").then(() => {
    const { address, port } = server.address();
    console.log(`notes on http://${address}:${port}`);
});
