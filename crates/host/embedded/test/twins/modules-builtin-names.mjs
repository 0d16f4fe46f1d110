// Names of built-in modules, whoever imported what of them before: loaded late, or not yet, or by another name.
import http from "node:http";
import util from "node:util";
import { basename } from "node:path";

const early = typeof http.createServer;
const byName = await import("./modules/esm/builtin_names.mjs");
console.log(early, byName.createServer === http.createServer, byName.Agent === http.Agent, byName.passedOn === http.createServer);
const whole = await import("node:http");
console.log(whole.default === http, whole.createServer === http.createServer, "METHODS" in whole, whole.METHODS === http.METHODS);
const other = await import("./modules/esm/builtin_late.mjs");
console.log(other.inspect === util.inspect, other.createReadStream === other.fs.createReadStream, other.all.createReadStream === other.createReadStream);
console.log(other.path.basename === basename, typeof other.all.readFileSync, other.readFileSync === other.all.readFileSync);
const [plain, literal, calculated] = other.asked;
console.log(literal === calculated, literal.Agent === plain.Agent, calculated.createServer === plain.createServer);
const again = await import("node:util");
console.log(again.inspect === util.inspect, again.default === util, "TextDecoder" in again);
