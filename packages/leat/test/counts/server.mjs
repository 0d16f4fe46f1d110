// A server of `LIBRARY` that answers with the number in the path, or with that after the body has come.
import { createRequire } from "node:module";
import { counting } from "./counting.mjs";

const http = createRequire(import.meta.url)(process.argv[2] ?? "leat/http");

const server = http.createServer((request, response) => {
    const body = request.url.slice(1);
    if (request.method !== "GET") {
        request.resume().on("end", () => response.end(body));
        return;
    }
    response.setHeader("Content-Type", "application/json; charset=utf-8");
    response.setHeader("Content-Length", body.length);
    response.end(body);
});
counting(server.listen(0, "127.0.0.1"));
