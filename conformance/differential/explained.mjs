// Joins differences with the rules that explain them: explained.json, where the first entry that matches counts.
import { readFileSync } from "node:fs";

const ENTRIES = JSON.parse(readFileSync(new URL("explained.json", import.meta.url), "utf8"));

/**
 * Splits the differences of `subject` by the rule that explains each: `{ rules, unexplained, unused }`. A rule is `{ why,
 * differences }`; `unused` are the patterns (`*` stands for any characters) that no difference needed.
 */
export function explain(subject, differences, entries = ENTRIES) {
    const rules = entries
        .filter((entry) => entry.subject === subject)
        .map(({ why, cases }) => ({ why, patterns: cases.map((text) => ({ text, matches: pattern(text), used: false })), differences: [] }));
    const unexplained = [];
    for (const difference of differences) {
        const rule = rules.find(({ patterns }) => patterns.some(({ matches }) => matches.test(difference.name)));
        if (!rule) {
            unexplained.push(difference);
            continue;
        }
        rule.differences.push(difference);
        for (const one of rule.patterns) if (one.matches.test(difference.name)) one.used = true;
    }
    const unused = rules.flatMap(({ patterns }) => patterns.filter(({ used }) => !used).map(({ text }) => text));
    return { rules: rules.filter((rule) => rule.differences.length > 0), unexplained, unused };
}

const pattern = (text) => new RegExp(`^${text.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
