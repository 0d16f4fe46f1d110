// All cases, once for each version of Express that they are about; names are `VERSION FILE: NAME` and unique.
import { readdirSync } from "node:fs";

export const VERSIONS = [5, 4];

const folder = new URL("./cases/", import.meta.url);

export const files = readdirSync(folder).filter((file) => file.endsWith(".mjs")).sort();

export const table = new Map();
for (const file of files) {
    const { default: cases } = await import(new URL(file, folder).href);
    for (const entry of cases) {
        const versions = entry.only === undefined ? VERSIONS : [entry.only];
        for (const version of versions) {
            const name = `${version} ${file.slice(0, -".mjs".length)}: ${entry.name}`;
            if (table.has(name)) throw new Error(`two cases are called ${name}`);
            table.set(name, { ...entry, version, file });
        }
    }
}

/** A case's requests; a function is given the version. */
export const requestsOf = ({ requests = ["/"], version }) => (typeof requests === "function" ? requests(version) : requests);
