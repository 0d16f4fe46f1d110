// One case out of its file.

/**
 * The case called `VERSION FILE: NAME`. Its file alone is loaded, since a subject may not have what others need; one that can't be
 * loaded becomes a case that throws why.
 */
export async function entryOf(name) {
    const [, version, file, title] = /^(\d) ([^:]+): (.*)$/s.exec(name);
    try {
        const { default: cases } = await import(new URL(`./cases/${file}.mjs`, import.meta.url).href);
        return { ...cases.find((entry) => entry.name === title), version: Number(version) };
    } catch (error) {
        return { version: Number(version), app: () => Promise.reject(error) };
    }
}
