// How the apps in this folder say that they listen, and end on SIGTERM.
import http from "node:http";
import { createRequire } from "node:module";

/** Prints `server`'s port and whose class it is of; `close` ends the app in the framework's own way. */
export function announce(server, close) {
    process.once("SIGTERM", async () => {
        await close();
        // Nothing may keep the process now; if something does, the parent's patience ends the test.
        process.exitCode = 0;
    });
    console.log(JSON.stringify({ port: server.address().port, server: owner(server) }));
}

function owner(server) {
    if (server.constructor === http.Server && !process.execArgv.includes("--import")) return "node:http";
    return server instanceof createRequire(import.meta.url)("leat/http").Server ? "leat/http" : "node:http";
}
