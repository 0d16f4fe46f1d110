// Says in words what became of a case, and whether that is what the corpus expects.
import { createHash } from "node:crypto";
import { bytes } from "./corpus.mjs";

/** What the corpus expects, as words: `accept`, `refuse` or `wait` for each entry. */
export function expected(outcome) {
    return outcome.map((entry) => ("accept" in entry ? "accept" : "refuse" in entry ? "refuse" : "wait"));
}

/**
 * What a subject did, in the same words. `misread` is an accepted request whose method, path or body is not the expected
 * one. A subject that closes without a reply has refused; one that neither replies nor closes waits.
 */
export function observed({ replies, closed }, outcome) {
    const words = replies.map(({ status, seen }, at) => {
        if (status >= 400) return "refuse";
        return misread(seen, outcome[at]?.accept) ? "misread" : "accept";
    });
    const due = outcome[words.length];
    if (due && words.at(-1) !== "refuse") words.push(closed ? "refuse" : "wait");
    return words;
}

/** Whether what the echo saw differs from what the corpus gives, as far as it gives it. */
export function misread(seen, accept) {
    if (!seen || !accept) return false;
    const { method = seen.method, path, query, body } = accept;
    if (seen.method !== method) return true;
    if (body !== undefined && sha1(bytes(body)) !== seen.sha1) return true;
    // A proxy may pass an absolute target on as a path.
    const target = path?.startsWith("/") && query !== undefined ? path + (query === null ? "" : `?${query}`) : undefined;
    return target !== undefined && target.length < 200 && !seen.target.endsWith(target);
}

const sha1 = (data) => createHash("sha1").update(data).digest("hex");
