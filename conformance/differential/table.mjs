// Writes what was found as the table in README.md, between the two markers.
import { readFileSync, writeFileSync } from "node:fs";

const FILE = new URL("README.md", import.meta.url);
const START = "<!-- table: node conformance/differential/run.mjs --write -->\n";
const END = "<!-- end of the table -->\n";

/** The table of `results`, each `{ name, version, cases, rules }`. */
export function render(results) {
    return results
        .map(({ name, version, cases, rules }) => {
            const count = rules.reduce((sum, rule) => sum + rule.differences.length, 0);
            const rows = rules.map(({ why, differences }) => `| ${differences.length} | ${why} | ${grouped(differences)} |`);
            return `\n## ${name} ${version}: ${count} of ${cases} cases differ\n\n| cases | why Leat differs | Leat → ${name}: which |\n| --- | --- | --- |\n${rows.join("\n")}\n`;
        })
        .join("");
}

/** Cases by what happened to them. */
function grouped(differences) {
    const groups = groupBy(differences, words);
    return [...groups].map(([key, list]) => `**${key}**: ${list.map(({ name }) => `\`${name}\``).join(", ")}`).join("; ");
}

const words = ({ expected, observed }) => `${expected} → ${observed}`;

/** `Map.groupBy`, which Node 20 does not have. */
function groupBy(list, key) {
    const groups = new Map();
    for (const item of list) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
    return groups;
}

/** Puts the table into README.md. */
export function write(results) {
    const text = readFileSync(FILE, "utf8");
    const start = text.indexOf(START) + START.length;
    writeFileSync(FILE, text.slice(0, start) + render(results) + text.slice(text.indexOf(END)));
}
