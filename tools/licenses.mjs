// The licences of everything that is in the binary, checked against the list in deny.toml, so that the check needs no
// cargo-deny (which takes minutes to build); where cargo-deny is installed, `make check` runs it as well.

/** The list `allow = […]` of deny.toml's `[licenses]` table. */
export function allowedIn(denyToml) {
    const table = /^\[licenses\]$([\s\S]*?)^\[/m.exec(`${denyToml}\n[`)?.[1] ?? "";
    const list = /^allow = \[([\s\S]*?)\]/m.exec(table)?.[1] ?? "";
    return new Set([...list.matchAll(/"([^"]+)"/g)].map((match) => match[1]));
}

/** What is wrong, one sentence each. `packages` are those of `cargo metadata`, `built` the names in the binary. */
export function problems(packages, built, allowed) {
    if (allowed.size === 0) return ["deny.toml: no licence is allowed; is the [licenses] table there?"];
    return packages
        .filter((pkg) => pkg.source !== null && built.has(pkg.name) && !satisfied(pkg.license ?? "", allowed))
        .map((pkg) => `${pkg.name} is licensed under "${pkg.license}", which deny.toml does not allow`);
}

/** Whether an SPDX expression (or the old `A/B`) can be met by allowed licences alone. */
export function satisfied(expression, allowed) {
    const tokens = expression.replace(/\//g, " OR ").match(/[()]|[^\s()]+/g) ?? [];
    let at = 0;
    const any = () => {
        let met = all();
        while (tokens[at] === "OR") {
            at += 1;
            met = all() || met;
        }
        return met;
    };
    const all = () => {
        let met = one();
        while (tokens[at] === "AND") {
            at += 1;
            met = one() && met;
        }
        return met;
    };
    const one = () => {
        if (tokens[at] === "(") {
            at += 1;
            const met = any();
            at += 1;
            return met;
        }
        let name = tokens[at];
        at += 1;
        if (tokens[at] === "WITH") {
            name = `${name} WITH ${tokens[at + 1]}`;
            at += 2;
        }
        return allowed.has(name);
    };
    return any() && at === tokens.length;
}
