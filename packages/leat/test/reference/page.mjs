// docs/reference/http-options.md, from Node's declarations, the table of options, and what the server says of those it refuses.
import leat from "leat/http";
import { members } from "./interfaces.mjs";
import { HTTP, LISTEN, TLS } from "./options.mjs";

const { createServer, https } = leat;

/** Values that refuse an option where it is refused at all. */
const PROBES = [true, "leat", 1, "TLSv1"];

/** Names that newer Nodes know and the pinned declarations do not. */
const NEWER = ["keepAliveTimeoutBuffer", "httpValidation", "shouldUpgradeCallback", "optimizeEmptyRequests", "blockList"];

const HEAD = `# Options of servers

Every option of node:http's \`createServer\`, of node:https' and of \`listen\`, as [\`leat/http\`](../guide/node-http.md) has them. The
page is made from Node's declarations, the sources and a server that was asked; \`UPDATE=1 node --test
packages/leat/test/reference.test.mjs\` writes it anew. What differs besides options stands in [its own list](http.md).

- **served**: it does what it does by Node.
- **ignored**: it is taken and has no effect; the remark says why that is no loss.
- **refused**: \`createServer\` throws an \`UnsupportedOptionError\` (\`code\` \`LEAT_UNSUPPORTED_OPTION\`, \`option\` its name), whose
  message is the remark. Where only some values are refused, the table shows both.

`;

const names = (module, name) => members(module, name).map(([, member]) => member);
const http = names("http", "ServerOptions");
/** What node:https adds. Of net's two, node:http takes both as well. */
const net = names("net", "ServerOpts");
const tls = names("https", "ServerOptions").filter((name) => !http.includes(name) && !net.includes(name));
const listen = names("net", "ListenOptions");

/** All options that there are, by group. */
export const GROUPS = [
    ["`createServer`", [...http, ...net, ...NEWER], HTTP],
    ["`createServer` with TLS", tls, TLS],
    ["`listen`", listen, LISTEN],
];

/** Why `name` is refused, or undefined if it is not, whatever its value. */
export function refusal(name) {
    for (const probe of PROBES) {
        for (const make of [createServer, https.createServer]) {
            try {
                make({ [name]: probe });
            } catch (error) {
                if (error.code === "LEAT_UNSUPPORTED_OPTION" && error.option === name) return error.message.replace(/^Leat cannot serve the option '.*?': /, "");
            }
        }
    }
    return undefined;
}

/** The whole page. */
export function page() {
    return HEAD + GROUPS.map(([title, found, table]) => section(title, found, table)).join("\n");
}

function section(title, found, table) {
    const leats = Object.keys(table).filter((name) => table[name].leat);
    const rows = [...new Set([...found, ...leats])].sort().map((name) => row(name, table[name], title === "`listen`" ? undefined : refusal(name)));
    return `## ${title}\n\n| option | | default | remark |\n| --- | --- | --- | --- |\n${rows.join("\n")}\n`;
}

function row(name, known, refused) {
    if (known === undefined) return `| \`${name}\` | refused | | ${refused} |`;
    const { served = true, leat = false, unit, note } = known;
    const state = [served ? "served" : "ignored", ...(refused ? ["or refused"] : [])].join(" ");
    const plain = known.default === "none" || typeof known.default === "string" && /[ `']/.test(known.default);
    const shown = plain ? known.default : `\`${known.default}\``;
    const withUnit = typeof known.default === "number" && unit ? `${shown} ${unit}` : shown;
    const remarks = [leat ? "Leat's own" : undefined, note, refused ? `otherwise: ${refused}` : undefined].filter(Boolean);
    return `| \`${name}\` | ${state} | ${withUnit} | ${remarks.join("; ")} |`;
}
