// The rules of the house that can be read from a source file: its length and name, `unsafe`, clocks, I/O and runtimes.

const LINES_MAX = 600;
const SOURCE = /\.(rs|mjs|cjs|js|ts|sh)$/;
const NAMES = /^(utils?|common|misc|helpers?|managers?)$/;

/** The only places where `unsafe` may stand; the testkit ships nowhere. */
const UNSAFE_ALLOWED = [
    // The vector instructions of the scan.
    /^crates\/wire\/h1\/src\/scan\/lanes\.rs$/,
    /^crates\/handle\/script\//,
    /^crates\/host\//,
    /^crates\/testkit\/src\/allocator\.rs$/,
];

/** What may not be named in which crates: bytes and time are arguments there. */
const FORBIDDEN = [
    { where: /^crates\/wire\/[^/]+\/src\//, what: /\b(std::time|core::time|Instant|SystemTime)\b/, why: "no clock here; take the time as an argument" },
    { where: /^crates\/base\/(message|policy)\/src\//, what: /\b(Instant|SystemTime)::now\b|\.elapsed\(/, why: "no clock here; take the time as an argument" },
    { where: /^crates\/(wire\/[^/]+|base\/(message|policy))\/src\//, what: /\b(std::fs|std::thread|(Tcp|Udp|Unix)(Stream|Listener|Socket|Datagram))\b/, why: "no I/O here; take bytes, give bytes" },
    { where: /^crates\/(wire\/[^/]+|base\/(message|observe|policy))\/src\//, what: /\b(tokio|mio)::/, why: "no runtime here; take bytes, give bytes" },
];

/** What is wrong with the file at `path` (relative to the repository, with slashes), one `path:line: sentence` each. */
export function problems(path, text) {
    const found = [];
    for (const part of path.split("/")) {
        const stem = part.replace(/\.[^.]*$/, "");
        if (NAMES.test(stem)) found.push(`${path}:1: "${stem}" names no concept; name it after what it holds`);
    }
    if (!SOURCE.test(path)) return found;

    const lines = text.split("\n");
    const count = lines.at(-1) === "" ? lines.length - 1 : lines.length;
    if (count > LINES_MAX) found.push(`${path}:${LINES_MAX + 1}: ${count} lines, at most ${LINES_MAX}; split it by concept`);
    if (path.endsWith(".rs")) found.push(...rust(path, lines));
    return found;
}

function rust(path, lines) {
    const found = [];
    const code = lines.map(codeOf);
    const tests = testsStart(path, code);
    const unsafeAllowed = UNSAFE_ALLOWED.some((allowed) => allowed.test(path));
    code.forEach((line, at) => {
        const where = `${path}:${at + 1}`;
        if (/\bunsafe\b/.test(line)) {
            if (!unsafeAllowed) found.push(`${where}: unsafe stands only in the wire/h1 scan, the lane and the hosts`);
            else if (/\bunsafe\s*(\{|impl\b)/.test(line) && !explained(lines, at)) found.push(`${where}: unsafe without a SAFETY comment above it`);
        }
        if (at >= tests) return;
        for (const { where: crates, what, why } of FORBIDDEN) {
            if (crates.test(path) && what.test(line)) found.push(`${where}: ${why}`);
        }
    });
    return found;
}

/** The line without string contents and comments; enough for a lint, since rustfmt keeps one statement a line. */
function codeOf(line) {
    return line.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\/\/.*$/, "");
}

/** Where the file's own tests begin; tests may use clocks and sockets. */
function testsStart(path, code) {
    if (/(^|\/)(tests?|testing)(\.rs$|\/)|_tests?\.rs$/.test(path)) return 0;
    const at = code.findIndex((line, i) => /^\s*#\[cfg\(test\)\]/.test(line) && /^\s*(pub(\(.*\))? )?mod\b/.test(code[i + 1] ?? ""));
    return at === -1 ? Infinity : at;
}

/** A SAFETY comment in the same comment block, or further up in a run of unsafe statements. */
function explained(lines, at) {
    for (let i = at; i >= 0 && i > at - 12; i -= 1) {
        if (lines[i].includes("SAFETY")) return true;
        if (i < at && lines[i].trim() === "") return false;
    }
    return false;
}
