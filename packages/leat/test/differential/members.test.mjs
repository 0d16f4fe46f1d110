// Every documented member stands in a case at least once: in the cases, `server`, `req`, `res` and `http` are always called so.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { members } from "./members.mjs";
import { files } from "./table.mjs";

const sources = files.map((file) => readFileSync(new URL(`./cases/${file}`, import.meta.url), "utf8")).join("\n");

/** How a use of the member `name` of `owner` looks in a case. */
function used(owner, name) {
    if (owner === "options") return new RegExp(`\\b${name}\\b\\s*:`);
    if (owner === "secure") return new RegExp(`\\bserver\\.${name}\\b`);
    return new RegExp(`\\b${owner}\\.${name}\\b`);
}

/** How listening to an event looks: `owner.on("name"` and its siblings, or the name in a list given to `spy("owner", …)`. */
function heard(owner, name) {
    const emitter = owner === "secure" ? "server" : owner;
    return new RegExp(`\\b${emitter}\\.(on|once|prependListener)\\("${name}"|spy\\([^\\n]*\\b${emitter}\\b[^\\n]*"${name}"|until\\(${emitter}, "${name}"\\)`);
}

for (const [owner, { events, members: names }] of Object.entries(members)) {
    for (const name of names) test(`${owner}.${name} stands in a case`, () => assert.match(sources, used(owner, name)));
    for (const name of events) test(`the event ${name} of ${owner} stands in a case`, () => assert.match(sources, heard(owner, name)));
}
