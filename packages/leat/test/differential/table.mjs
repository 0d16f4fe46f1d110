// All cases, in the order of their files; names are `file: name` and unique.
import { readdirSync } from "node:fs";

const folder = new URL("./cases/", import.meta.url);
const major = Number(process.versions.node.split(".")[0]);

export const files = readdirSync(folder).filter((file) => file.endsWith(".mjs")).sort();

export const table = new Map();
for (const file of files) {
    const { cases } = await import(new URL(file, folder).href);
    for (const entry of cases) {
        const name = `${file.slice(0, -".mjs".length)}: ${entry.name}`;
        if (table.has(name)) throw new Error(`two cases are called ${name}`);
        if (major >= (entry.node ?? 0)) table.set(name, entry);
    }
}
