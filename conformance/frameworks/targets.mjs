// The modules that every suite runs on. LEAT_TARGETS picks some by name while a suite is being written.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import * as node from "node:http";

const HERE = import.meta.url;
/** Node's own server comes first: what it answers is what leat/http has to answer. */
const KNOWN = {
    "node:http": () => node.default,
    "leat/http": () => createRequire(HERE)("leat/http"),
};

const wanted = (process.env.LEAT_TARGETS ?? Object.keys(KNOWN).join(",")).split(",");

/** `{ name, http }` each, the reference first. A module that cannot be loaded is an error: nothing is skipped. */
export const targets = wanted.map((name) => {
    const load = KNOWN[name];
    if (load === undefined) throw new Error(`LEAT_TARGETS: no target ${name}; there are: ${Object.keys(KNOWN).join(" ")}`);
    return { name, http: load() };
});

/** The same for an app that makes its server itself: arguments for `node` before the app's path, and whose server it has to get. */
export const launches = wanted.map((server) => (server === "leat/http" ? { name: "leat/register", server, args: ["--import", "leat/register"] } : { name: server, server, args: [] }));

/** Where children start, so that `leat/register` is found as in a user's project. */
export const folder = fileURLToPath(new URL(".", HERE));
