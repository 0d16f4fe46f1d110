// A server that answers with the number in the path, or with the length of the body. Asked over IPC, it tells what its
// lane has counted.
import { http, engine } from "../subject.mjs";

const server = http.createServer((request, response) => {
    if (request.method === "GET") return response.end(request.url.slice(1));
    let id = "";
    request.on("data", (chunk) => (id += chunk));
    request.on("end", () => response.end(request.url.slice(1)));
    return undefined;
});

server.listen(0, "127.0.0.1", () => process.send({ is: "port", port: server.address().port }));

process.on("message", (asked) => {
    if (asked === "counts") process.send({ is: "counts", counts: engine() });
    else process.exit(0);
});
