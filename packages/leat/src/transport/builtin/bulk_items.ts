// Bulk requests and their responses as texts: which lines are one operation, and which text is one result. Results are kept as they
// came, so that no number in them loses digits.

/** The members of a JSON object as texts, in their order. */
export type Members = Map<string, string>;

/**
 * The members of the object that `text` is; undefined if it is none. Values are told apart, and not checked.
 */
export function membersOf(text: string): Members | undefined {
    const members: Members = new Map();
    let at = blank(text, 0);
    if (text[at] !== "{") return undefined;
    for (at = blank(text, at + 1); text[at] !== "}"; ) {
        if (text[at] !== '"') return undefined;
        const nameEnd = valueEnd(text, at);
        const colon = blank(text, nameEnd);
        if (text[colon] !== ":") return undefined;
        const start = blank(text, colon + 1);
        const end = valueEnd(text, start);
        if (end === start) return undefined;
        members.set(text.slice(at + 1, nameEnd - 1), text.slice(start, end));
        at = blank(text, end);
        if (text[at] === ",") at = blank(text, at + 1);
        else if (text[at] !== "}") return undefined;
    }
    return members;
}

/** The elements of the array that `text` is, as texts; undefined if it is none. */
export function elementsOf(text: string): string[] | undefined {
    const elements: string[] = [];
    let at = blank(text, 0);
    if (text[at] !== "[") return undefined;
    for (at = blank(text, at + 1); text[at] !== "]"; ) {
        const end = valueEnd(text, at);
        if (end === at) return undefined;
        elements.push(text.slice(at, end));
        at = blank(text, end);
        if (text[at] === ",") at = blank(text, at + 1);
        else if (text[at] !== "]") return undefined;
    }
    return elements;
}

/** The operations of a bulk request, each with its lines; undefined if it is no such request. */
export function operationsOf(body: string): string[] | undefined {
    const lines = body.split("\n");
    if (lines.at(-1) === "") lines.pop();
    const operations: string[] = [];
    for (let at = 0; at < lines.length; ) {
        const lineCount = isDelete(lines[at] as string) ? 1 : 2;
        if (at + lineCount > lines.length) return undefined;
        operations.push(`${lines.slice(at, at + lineCount).join("\n")}\n`);
        at += lineCount;
    }
    return operations;
}

/** The only action without a line of its own below it. */
function isDelete(action: string): boolean {
    return membersOf(action)?.has("delete") === true;
}

/** The status of one result, `{"index":{"status":429,…}}`; undefined if it has none. */
export function statusOf(item: string): number | undefined {
    const [result] = membersOf(item)?.values() ?? [];
    const status = result === undefined ? undefined : membersOf(result)?.get("status");
    return status !== undefined && /^\d{3}$/.test(status) ? Number(status) : undefined;
}

const SPACE = new Set([" ", "\t", "\n", "\r"]);

function blank(text: string, from: number): number {
    let at = from;
    while (SPACE.has(text[at] as string)) at++;
    return at;
}

/** Where the value that begins at `from` ends; `from` itself if none does. */
function valueEnd(text: string, from: number): number {
    let depth = 0;
    for (let at = from; at < text.length; at++) {
        const unit = text[at] as string;
        if (unit === '"') {
            at = stringEnd(text, at);
            if (at === -1) return from;
            if (depth === 0) return at + 1;
        } else if (unit === "{" || unit === "[") depth += 1;
        else if (unit === "}" || unit === "]") {
            if (depth === 0) return at;
            depth -= 1;
            if (depth === 0) return at + 1;
        } else if (depth === 0 && (unit === "," || SPACE.has(unit))) return at;
    }
    return depth === 0 ? text.length : from;
}

/** Where the quote that closes a string is; -1 if none does. */
function stringEnd(text: string, from: number): number {
    for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
        let slashes = 0;
        while (text[at - 1 - slashes] === "\\") slashes++;
        if (slashes % 2 === 0) return at;
    }
    return -1;
}
