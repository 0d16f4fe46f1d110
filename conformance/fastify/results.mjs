// Reads what `node --test-reporter=tap` printed for one file, and compares it with the list of known failures.

/** The tests of a report that failed, by name; a nested one is named after the tests around it as well. */
export function failures(tap) {
    const found = [];
    const around = [];
    for (const line of tap.split("\n")) {
        const row = /^( *)(# Subtest: |not ok \d+ - |ok \d+ - )(.*)$/.exec(line);
        if (!row) continue;
        const depth = row[1].length / 4;
        const name = row[3].replace(/ # (SKIP|TODO).*$/, "");
        if (row[2] === "# Subtest: ") {
            around.length = depth;
            around.push(name);
        } else if (row[2].startsWith("not") && !/ # (SKIP|TODO)/.test(row[3])) {
            found.push([...around.slice(0, depth), name].join(" > "));
        }
    }
    // A test fails with the one inside it, which says more.
    return found.filter((name) => !found.some((other) => other.startsWith(`${name} > `)));
}

/** How many tests of the report passed. */
export function passes(tap) {
    return Number(/^# pass (\d+)$/m.exec(tap)?.[1] ?? 0);
}

/**
 * Compares `failed` (as "file: test") with `known` (the same → reason) for the files that ran: what is wrong, and what
 * failed as it is known to. A known failure that passes is wrong as well, so that the list stays true.
 */
export function compare(failed, known, files) {
    const listed = Object.keys(known).filter((id) => files.includes(id.split(": ")[0]));
    return {
        wrong: [...failed.filter((id) => known[id] === undefined), ...listed.filter((id) => !failed.includes(id)).map((id) => `${id}: passes, or is not there; take it off the list`)],
        known: listed.filter((id) => failed.includes(id)),
    };
}
