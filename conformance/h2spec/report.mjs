// Reads h2spec's JUnit report, and compares it with the list of known failures.

const ENTITIES = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#34;": '"', "&#39;": "'", "&apos;": "'", "&#xA;": "\n", "&#x9;": "\t", "&amp;": "&" };
const unescape = (text) => text.replace(/&(?:#?\w+);/g, (entity) => ENTITIES[entity] ?? entity);

/**
 * The cases of a report: `id` ("http2/6.5.2/3": the section and the number of the case in it), `title`, `outcome`
 * ("passed", "failed", "skipped"), and for a failure `detail`.
 */
export function cases(xml) {
    const found = [];
    const inSection = new Map();
    for (const [, attributes, , inner = ""] of xml.matchAll(/<testcase\b([^>]*?)(\/>|>([\s\S]*?)<\/testcase>)/g)) {
        const attribute = (name) => unescape(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
        const section = attribute("package");
        const number = (inSection.get(section) ?? 0) + 1;
        inSection.set(section, number);
        const failure = /<(?:failure|error)\b[^>]*>([\s\S]*?)<\/(?:failure|error)>/.exec(inner);
        const outcome = failure ? "failed" : /<skipped\b/.test(inner) ? "skipped" : "passed";
        found.push({ id: `${section}/${number}`, title: attribute("classname"), outcome, detail: unescape(failure?.[1] ?? "").trim() });
    }
    return found;
}

/**
 * Compares `found` with `skips` (case → reason). A failure that is not listed is a failure; so is a listed case that now
 * passes or does not exist, since the list would no longer tell the truth.
 */
export function compare(found, skips) {
    const result = { passed: 0, known: [], failures: [] };
    const ids = new Set(found.map((row) => row.id));
    for (const row of found) {
        const reason = skips[row.id];
        if (row.outcome === "passed" && reason === undefined) result.passed += 1;
        else if (row.outcome === "passed") result.failures.push(`${row.id} passes, take it off the list: ${row.title}`);
        else if (reason !== undefined) result.known.push(`${row.id}: ${reason}`);
        else result.failures.push(`${row.id} ${row.outcome}: ${row.title}${row.detail && `\n    ${row.detail.replace(/\n/g, "\n    ")}`}`);
    }
    for (const id of Object.keys(skips)) if (!ids.has(id)) result.failures.push(`${id} is listed, but h2spec has no such case`);
    if (found.length === 0) result.failures.push("the report has no cases");
    return result;
}
