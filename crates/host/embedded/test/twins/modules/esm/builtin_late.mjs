import fs, { readFileSync } from "node:fs";
import * as all from "node:fs";
import path from "path";
export { createReadStream } from "fs";
export { inspect } from "node:util";
export { all, fs, path, readFileSync };
import http from "node:http";
const name = "node:http";
export const asked = [http, await import("node:http"), await import(name)];
