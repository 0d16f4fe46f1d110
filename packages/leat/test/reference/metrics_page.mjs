// docs/reference/http-metrics.md, from the text that `metrics()` gives.
import { metrics } from "leat/http";

const HEAD = `# Metrics of leat/http

What \`metrics()\` of [\`leat/http\`](../guide/node-http.md#metrics) gives, in the Prometheus text format. Times are in seconds, sizes in
bytes. A lane joins the engine and one JavaScript thread: lane 0 is the first that listened. The page is made from that text;
\`UPDATE=1 node --test packages/leat/test/reference.test.mjs\` writes it anew.

| name | kind | labels | what it counts |
| --- | --- | --- | --- |
`;

/** Labels of series that stand in the text only once something happened. */
const LATER = { leat_connections_refused_total: ["reason"] };

/** The whole page. */
export function metricsPage() {
    const text = metrics();
    const rows = [...text.matchAll(/^# HELP (\S+) (.+)\n# TYPE \S+ (\S+)$/gm)].map(([, name, help, kind]) => {
        const sample = new RegExp(`^${name}(?:_bucket)?\\{(.+?)\\} `, "m").exec(text)?.[1] ?? "";
        const labels = LATER[name] ?? [...sample.matchAll(/(\w+)="/g)].map(([, label]) => label).filter((label) => label !== "le");
        return `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help} |`;
    });
    return `${HEAD}${rows.join("\n")}\n\nThe reasons are those of [the table](reasons.md). The pauses are of the thread that asked.\n`;
}
