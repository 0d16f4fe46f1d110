// What a subject and its leader have in common.

/** Begins a line of stdout that is for the leader. */
export const MARK = "\u0001";

/** The case called `FILE: NAME`; its file alone is loaded, since a subject may not have what others need. */
export async function entryOf(name) {
    const file = name.slice(0, name.indexOf(": "));
    const { cases } = await import(new URL(`./cases/${file}.mjs`, import.meta.url).href);
    return cases.find((entry) => name === `${file}: ${entry.name}`);
}
