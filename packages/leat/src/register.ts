// `node --import leat/register app.js`: every server of `http` and `https` in this process is Leat's, and so is `express`, in the
// major version that the program has installed. Clients and messages stay Node's. Code that took `createServer` or `Server` out of the modules before this ran keeps what it took.
import http = require("node:http");
import https = require("node:https");
import { syncBuiltinESMExports } from "node:module";
import leatHttp = require("./http/server");
import leatHttps = require("./http/https");
import { checkAddon } from "./native/check";
import { mapAbsent } from "./register/absent";
import { mapFiles } from "./register/load";

/** Another copy of the package may have been here: the servers of one must not be made of those of the other. */
const REGISTERED = Symbol.for("leat.registered");

if (!Object.hasOwn(http, REGISTERED)) {
    // Whoever asked for Leat is told now, and not by the first server, that there is none for this platform.
    checkAddon();
    Object.defineProperty(http, REGISTERED, { value: true });
    Object.assign(http, { createServer: leatHttp.createServer, Server: leatHttp.Server });
    Object.assign(https, { createServer: leatHttps.createServer, Server: leatHttps.Server });
    // What `import { createServer } from "node:http"` sees is a copy.
    syncBuiltinESMExports();
    mapFiles();
    mapAbsent();
}
