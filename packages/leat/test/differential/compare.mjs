// Two results of the same case, side by side.

/** The lines of a readable diff, none if the results are the same. */
export function differences(reference, other) {
    const found = [];
    found.push(...section("log", reference.log, other.log));
    const count = Math.max(reference.connections.length, other.connections.length);
    for (let at = 0; at < count; at += 1) {
        const [mine, theirs] = [reference.connections[at], other.connections[at]];
        if (mine === undefined || theirs === undefined) {
            found.push(`connection ${at}: only one side has it`);
            continue;
        }
        found.push(...section(`connection ${at}, bytes`, wireLines(mine.bytes), wireLines(theirs.bytes)));
        if (mine.end !== theirs.end) found.push(`connection ${at} ends: - ${mine.end}`, `connection ${at} ends: + ${theirs.end}`);
    }
    found.push(...section("waits", reference.unmet, other.unmet));
    return found;
}

/** What is wrong with a case, seen on the reference: a script that waits for what never comes, or leaves something to luck. */
export function mistakes(reference, entry) {
    const found = reference.unmet.map((what) => `the script ${what} on the reference`);
    if (reference.lucky) found.push("the reference ends the connection, and the script doesn't wait for that");
    const strays = reference.log.some((line) => line.startsWith("uncaught (") || line.startsWith("the case threw"));
    if (strays && !entry.serial) found.push("something is thrown that nobody catches, and the case isn't `serial`");
    return found;
}

const SHOWN_MAX = 400;

function wireLines(bytes) {
    return bytes.split(/(?<=\n)/).map((line) => JSON.stringify(line.length > SHOWN_MAX ? `${line.slice(0, SHOWN_MAX)}… (${line.length}, sum ${sum(line)})` : line));
}

function sum(text) {
    let total = 0;
    for (let at = 0; at < text.length; at += 1) total = (total * 31 + text.charCodeAt(at)) >>> 0;
    return total;
}

/** Lines that both have are context, `-` is the reference, `+` the other; found with the longest common subsequence. */
function section(title, left, right) {
    if (left.length === right.length && left.every((line, at) => line === right[at])) return [];
    const lengths = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
    for (let i = left.length - 1; i >= 0; i -= 1) {
        for (let j = right.length - 1; j >= 0; j -= 1) {
            lengths[i][j] = left[i] === right[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
        }
    }
    const lines = [`${title}:`];
    for (let i = 0, j = 0; i < left.length || j < right.length; ) {
        if (i < left.length && j < right.length && left[i] === right[j]) {
            lines.push(`    ${left[i]}`);
            i += 1;
            j += 1;
        } else if (j >= right.length || (i < left.length && lengths[i + 1][j] >= lengths[i][j + 1])) {
            lines.push(`  - ${left[i]}`);
            i += 1;
        } else {
            lines.push(`  + ${right[j]}`);
            j += 1;
        }
    }
    return lines;
}
