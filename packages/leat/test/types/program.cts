// A program with CommonJS modules that uses the declarations as a user's does, in each way that TypeScript has.
import http = require("leat/http");
import standard from "leat/http";
import * as namespace from "leat/http";
import { createServer } from "leat/http";

const listener: import("node:http").RequestListener = (request, response) => void response.end(request.method);

export const servers = [http.createServer(listener), standard.createServer(listener), namespace.createServer(listener), createServer(listener)];
