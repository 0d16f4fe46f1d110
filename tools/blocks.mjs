// Finds the fenced code blocks of a Markdown page that can be tested.

/**
 * The blocks of `text` in order: `kind`, `line` (of the fence, from 1), `body`; `file` of what is left as a file, and
 * `needs` of commands that want packages from npm.
 *
 * - "```sh test": commands that must succeed; "```sh test NAME…" with these packages from npm.
 * - "```js NAME", "```ts NAME": a program, left as that file for later blocks.
 * - "```proto NAME", "```yaml rules NAME": a schema or rules of a mock, left as that file for later blocks.
 * - "```yaml": a whole configuration, which must be right; "```yaml NAME" also leaves it as that file for later blocks.
 * - "```yaml part": a part of a configuration, not checked; every other fence is for people only.
 */
export function blocks(text) {
    const found = [];
    const lines = text.split("\n");
    for (let at = 0; at < lines.length; at += 1) {
        const open = /^(\s*)(`{3,})(\S*)\s*(.*)$/.exec(lines[at]);
        if (!open) continue;
        const [, indent, fence, language, rest] = open;
        const start = at + 1;
        while (at + 1 < lines.length && lines[at + 1].trim() !== fence) at += 1;
        const body = lines.slice(start, at + 1).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line)).join("\n");
        at += 1;
        const word = rest.trim();
        const [first, ...needs] = word.split(/\s+/);
        if (language === "sh" && first === "test") found.push({ kind: "commands", line: start, body, needs });
        if ((language === "js" || language === "ts") && word !== "") found.push({ kind: "program", line: start, body, file: word });
        if (language === "proto" && word !== "") found.push({ kind: "program", line: start, body, file: word });
        const isRules = language === "yaml" && first === "rules" && needs.length === 1;
        if (isRules) found.push({ kind: "program", line: start, body, file: needs[0] });
        if (language === "yaml" && word !== "part" && !isRules) found.push({ kind: "config", line: start, body, file: word || undefined });
    }
    return found;
}
