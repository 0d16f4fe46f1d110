// The end of docs/reference/http.md, from the exceptions of the differential table; what stands before it is written by hand.
import { everywhere } from "../differential/exceptions.mjs";

const TITLE = "## Program by program";

/** `text` with its last section made anew. */
export function withExceptions(text) {
    const [written] = text.split(`\n${TITLE}\n`);
    const rows = Object.entries(everywhere).map(([name, why]) => `| ${name} | ${why} |`.replaceAll("\n", " "));
    return `${written.trimEnd()}\n
${TITLE}

The cases of the [differential table](../../packages/leat/test/differential) that differ, each of them tested to differ still. This section
is made from that list; \`UPDATE=1 node --test packages/leat/test/reference.test.mjs\` writes it anew.

| case | what differs, and why |
| --- | --- |
${rows.join("\n")}
`;
}

/** The reasons in the table of requests that Leat refuses. */
export function refusedReasons(text) {
    const section = /## Requests that node:http serves and Leat refuses\n([^]*?)\n## /.exec(text)?.[1] ?? "";
    return [...section.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell]) => named(cell));
}

/** The cases of the corpus that the page names. */
export function namedCases(text) {
    const section = /## Requests that Leat serves and node:http refuses\n([^]*?)\n## Requests\n/.exec(text)?.[1] ?? "";
    return named(section).filter((name) => /^[a-z]+\.[a-z0-9_]+$/.test(name));
}

const named = (text) => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
