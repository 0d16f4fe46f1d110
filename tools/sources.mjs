// The rules of the house that can be read from a source file: its length and name, `unsafe`, clocks, I/O and runtimes in
// Rust, what TypeScript and its lint may be told to overlook, and what a lock file may say.

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
    { where: /^crates\/wire\/[^/]+\/src\//, what: /\b((std|core)::time(?!::Duration;)|Instant|SystemTime)\b/, why: "no clock here; take the time as an argument" },
    { where: /^crates\/base\/(message|policy)\/src\//, what: /\b(Instant|SystemTime)::now\b|\.elapsed\(/, why: "no clock here; take the time as an argument" },
    { where: /^crates\/(wire\/[^/]+|base\/(message|policy))\/src\//, what: /\b(std::fs|std::thread|(Tcp|Udp|Unix)(Stream|Listener|Socket|Datagram))\b/, why: "no I/O here; take bytes, give bytes" },
    { where: /^crates\/(wire\/[^/]+|base\/(message|observe|policy))\/src\//, what: /\b(tokio|mio)::/, why: "no runtime here; take bytes, give bytes" },
];

/** Files that have the name of one of Node's own modules. */
const NODE_MODULE = /^crates\/host\/embedded\/(js\/node|test\/twins)\//;

/**
 * Names of TypeScript files are written as Rust's are, so that sibling folders of both read alike. One that begins with _ is no
 * built-in module of its own, but part of those that import it.
 */
const TYPESCRIPT_NAME = /^_?[a-z][a-z0-9]*(_[a-z0-9]+)*(\.d)?\.ts$/;

/** Comments that switch a check off, and the form that says why: `eslint-disable-next-line RULE -- REASON`. */
const LINT_OFF = /\beslint-disable(?:-next-line|-line)?\b(.*)/;
const LINT_OFF_EXPLAINED = /^\s+[@\w/,\s-]*\w\s+--\s+\S/;
const TYPES_OFF = /@ts-(ignore|nocheck)\b/;
const ANY = /(?<![\w$.])any(?![\w$:(?])/;

/** What is wrong with the file at `path` (relative to the repository, with slashes), one `path:line: sentence` each. */
export function problems(path, text) {
    const found = [];
    for (const part of path.split("/")) {
        const stem = part.replace(/\.[^.]*$/, "");
        if (NAMES.test(stem) && !NODE_MODULE.test(path)) found.push(`${path}:1: "${stem}" names no concept; name it after what it holds`);
    }
    if (path.endsWith("package-lock.json")) found.push(...lock(path, text));
    if (!SOURCE.test(path)) return found;

    const lines = text.split("\n");
    const count = lines.at(-1) === "" ? lines.length - 1 : lines.length;
    if (count > LINES_MAX) found.push(`${path}:${LINES_MAX + 1}: ${count} lines, at most ${LINES_MAX}; split it by concept`);
    if (path.endsWith(".rs")) found.push(...rust(path, lines));
    if (path.endsWith(".ts")) found.push(...typescript(path, lines));
    if (/^packages\/.*\.(ts|[cm]?js)$/.test(path)) found.push(...overlooked(path, lines));
    return found;
}

/** The registry is whichever the machine is set up for; the hashes say what must come from it. */
function lock(path, text) {
    const at = text.split("\n").findIndex((line) => /^\s*"resolved":/.test(line));
    return at === -1 ? [] : [`${path}:${at + 1}: no addresses of a registry here; write it with omit-lockfile-registry-resolved=true`];
}

function typescript(path, lines) {
    const found = [];
    const name = path.split("/").at(-1);
    if (!TYPESCRIPT_NAME.test(name)) found.push(`${path}:1: "${name}" is named unlike the others: lower case, with _ between words`);
    lines.forEach((line, at) => {
        // ESLint has a rule of its own; this one holds where a comment switches that off.
        if (ANY.test(typescriptCode(line))) found.push(`${path}:${at + 1}: no any; unknown is the type of what is not known`);
    });
    return found;
}

/** The line without string contents and comments; of a comment over several lines, lines begin with an asterisk. */
function typescriptCode(line) {
    if (/^\s*(\/?\*)/.test(line)) return "";
    return line.replace(/"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|'(?:[^'\\]|\\.)*'/g, '""').replace(/\/\/.*$/, "").replace(/\/\*.*?\*\//g, "");
}

function overlooked(path, lines) {
    const found = [];
    lines.forEach((line, at) => {
        const comment = /\/[/*](.*)/.exec(line)?.[1] ?? "";
        const off = LINT_OFF.exec(comment);
        if (off && !LINT_OFF_EXPLAINED.test(off[1])) found.push(`${path}:${at + 1}: name the rule that is switched off, and after -- the reason`);
        if (TYPES_OFF.test(comment)) found.push(`${path}:${at + 1}: no @ts-ignore or @ts-nocheck; @ts-expect-error with a reason fails when it is no longer needed`);
    });
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
