// docs/reference/express.md, from leat/express and leat/express4 themselves, and what express_members.mjs says of their members.
import { ofLeat } from "../express/differential/exceptions.mjs";
import { once } from "node:events";
import http from "node:http";
import { createRequire } from "node:module";
import { APPLICATION, MODULE, REQUEST, RESPONSE, ROUTER, SETTINGS } from "./express_members.mjs";

const require = createRequire(import.meta.url);

const HEAD = `# Members and settings of leat/express

What [Express](https://expressjs.com) 5 and 4 have, by \`leat/express\` and \`leat/express4\`; under \`leat/register\` a program's own
\`express\` has them. The page is made by asking both; \`UPDATE=1 node --test packages/leat/test/reference.test.mjs\` writes it anew.
Requests and responses have all that those of [\`leat/http\`](http-options.md) have besides. Bodies, files, cookies and negotiation
are done by the libraries that Express uses itself.

`;

const METHODS = new Set(http.METHODS.map((method) => method.toLowerCase()));

/** What is not Express's interface: of functions, of Node's classes, and what Leat puts in the place of Node's methods. */
const NOT_EXPRESS = new Set(["length", "name", "prototype", "constructor", "_events", "_eventsCount", "_maxListeners"]);

const VERSIONS = [
    [5, require("leat/express")],
    [4, require("leat/express4")],
];

/** All names of `object` that its classes in `ends` do not have, nor anything that Node has. */
function names(object, ends, withMethods) {
    const found = new Set();
    for (let at = object; at !== null && !ends.includes(at); at = Object.getPrototypeOf(at)) {
        for (const name of Object.getOwnPropertyNames(at)) {
            if (NOT_EXPRESS.has(name) || name.startsWith("_") || name.startsWith("@@")) continue;
            if (withMethods && METHODS.has(name) && name !== "all") found.add("METHOD");
            else if (!ends.some((end) => name in end)) found.add(name);
        }
    }
    return found;
}

/** What a request and a response have in a handler. */
async function messages(express) {
    const app = express();
    const found = new Promise((resolve, reject) => {
        app.post("/:id", express.json(), (req, res) => {
            try {
                const nodes = [http.IncomingMessage.prototype, http.ServerResponse.prototype];
                resolve([names(req, [nodes[0], plain(req, nodes[0])]), names(res, [nodes[1], plain(res, nodes[1])])]);
            } catch (error) {
                reject(error);
            }
            res.end();
        });
    });
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    const request = http.request({ port: server.address().port, host: "127.0.0.1", path: "/a", method: "POST", agent: false, headers: { "Content-Type": "application/json" } });
    request.end("{}");
    const both = await found;
    request.on("response", (response) => response.resume());
    server.close();
    return both;
}

/** A message of Node's without anything of Express's, for the properties that constructors make. */
function plain(message, prototype) {
    const Class = prototype.constructor;
    return prototype === http.IncomingMessage.prototype ? new Class(message.socket) : new Class(message.req);
}

/** Names by group and version. */
async function asked() {
    const groups = { module: [], application: [], request: [], response: [], router: [], settings: [] };
    for (const [, express] of VERSIONS) {
        const app = express();
        const [request, response] = await messages(express);
        groups.module.push(new Set(["", ...[...names(express, [Function.prototype])].filter((name) => Object.getOwnPropertyDescriptor(express, name)?.get === undefined)]));
        groups.application.push(names(app, [Function.prototype, Object.getPrototypeOf(process)]));
        groups.request.push(request);
        groups.response.push(response);
        groups.router.push(names(express.Router(), [Function.prototype], true));
        groups.settings.push(new Map(Object.keys(app.settings).filter((name) => !name.endsWith(" fn")).map((name) => [name, app.get(name)])));
    }
    const { EventEmitter } = await import("node:events");
    groups.application = groups.application.map((all) => {
        const own = [...all].filter((name) => !(name in EventEmitter.prototype));
        return new Set(own.some((name) => METHODS.has(name)) ? ["METHOD", ...own.filter((name) => !METHODS.has(name))] : own);
    });
    return groups;
}

const GROUPS = [
    ["The module", "module", MODULE, (name) => (name === "" ? "express()" : `express.${name}`)],
    ["An app", "application", APPLICATION, (name) => `app.${name}`],
    ["A request", "request", REQUEST, (name) => `req.${name}`],
    ["A response", "response", RESPONSE, (name) => `res.${name}`],
    ["A router", "router", ROUTER, (name) => `router.${name}`],
];

/** `{ page, unknown, gone }`: what either has and the table has not, and the other way round. */
export async function expressPage() {
    const groups = await asked();
    const unknown = [];
    const gone = [];
    let page = HEAD;
    for (const [title, group, table, shown] of GROUPS) {
        const [five, four] = groups[group];
        unknown.push(...[...new Set([...five, ...four])].filter((name) => !Object.hasOwn(table, name)).map((name) => `${group}: ${name}`));
        gone.push(...Object.keys(table).filter((name) => !five.has(name) && !four.has(name)).map((name) => `${group}: ${name}`));
        page += `## ${title}\n\n| member | 5 | 4 | |\n| --- | --- | --- | --- |\n`;
        for (const name of Object.keys(table).sort()) page += `| \`${shown(name)}\` | ${five.has(name) ? "yes" : ""} | ${four.has(name) ? "yes" : ""} | ${table[name]} |\n`;
        page += "\n";
    }
    page += "## Settings\n\n| setting | in a new app of 5 | of 4 | |\n| --- | --- | --- | --- |\n";
    for (const name of Object.keys(SETTINGS).sort()) page += `| \`${name}\` | ${groups.settings.map((all) => value(name, all)).join(" | ")} | ${SETTINGS[name]} |\n`;
    unknown.push(...groups.settings.flatMap((all) => [...all.keys()].filter((name) => !Object.hasOwn(SETTINGS, name)).map((name) => `setting: ${name}`)));
    page += differences();
    return { page, unknown, gone };
}

/** What no case of the table can tell, since it is the same in each run. */
const UNTOLD = [
    ["names of methods", "methods that are anonymous functions in Express have their names here"],
    ["`req._parsedUrl`", "an accessor on the prototype, and no own property: it is parsed when it is read"],
    ["`app.param(function)` in 4", "its deprecation is told once for each line of a program, not once for a process"],
    ["a layer's `regexp`, `matchers` or `match` that is replaced", "seen once the stack it stands in changes"],
];

function differences() {
    const rows = [...ofLeat.map(([name, why]) => [name, why]), ...UNTOLD];
    return `\n## What differs from Express\n
The cases of the [differential table](../../packages/leat/test/express/differential) that differ, each of them tested to differ
still, and what it does not compare. What differs from node:http differs under Express too: [its page](http.md).\n
| case | what differs, and why |\n| --- | --- |\n${rows.map(([name, why]) => `| ${name} | ${why} |\n`).join("")}`;
}

function value(name, settings) {
    if (!settings.has(name)) return "";
    const found = settings.get(name);
    if (name === "env") return "`development`";
    if (name === "views") return "`views` of the working directory";
    return typeof found === "function" ? `class \`${found.name}\`` : `\`${found}\``;
}
