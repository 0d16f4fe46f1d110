// Messages of classes with constructors of their own, and what tracing tools hear.
const http = require("node:http");
const channels = require("node:diagnostics_channel");

class Request extends http.IncomingMessage {
    constructor(socket) {
        super(socket);
        this.since = socket !== undefined && this.url === "" && this.method === null ? "made" : "not made";
    }
}
class Response extends http.ServerResponse {
    own = [];
    constructor(req, options) {
        super(req, options);
        this.own.push(req.since, req.url);
    }
}

for (const name of ["http.server.request.start", "http.server.response.finish"]) {
    channels.subscribe(name, ({ request, response, socket, server: of }) => console.log(name, request.url, response.statusCode, socket === request.socket, of === server));
}
const server = http.createServer({ IncomingMessage: Request, ServerResponse: Response, uniqueHeaders: ["x-u"] }, (req, res) => {
    console.log(req instanceof Request, res instanceof Response, req.since, res.own, req.headers.host === undefined);
    res.setHeader("X-U", ["1", "2"]);
    res.statusCode = 203;
    res.end("x");
    res.on("finish", () => console.log("finish"));
    res.on("close", () => console.log("close", res.writableFinished));
});
server.keepAliveTimeout = 1234;
server.listen(0, "127.0.0.1", () => {
    http.get({ port: server.address().port, host: "127.0.0.1", path: "/a", agent: false }, (res) => {
        res.resume();
        res.on("end", () => {
            console.log(res.statusCode, res.headers["x-u"], res.headers["keep-alive"]);
            server.close(() => console.log("closed"));
        });
    });
});
