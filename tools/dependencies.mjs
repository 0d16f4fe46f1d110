// The rule that dependencies point one way, checked on the output of `cargo metadata`.
// Dev-dependencies may point anywhere that Cargo allows: they ship nothing.

/** Which folders below crates/ a crate of that folder may depend on. `testkit` is for dev-dependencies only. */
const ALLOWED = {
    base: ["base"],
    wire: ["wire", "base"],
    outbound: ["outbound", "wire", "base"],
    inbound: ["inbound", "wire", "base"],
    handle: ["handle", "outbound", "wire", "base"],
    host: ["host", "handle", "inbound", "outbound", "wire", "base"],
    cli: ["host", "handle", "inbound", "outbound", "wire", "base"],
    testkit: ["wire", "base"],
};

/** Crates that do no I/O and so may not have a runtime anywhere below them. */
const WITHOUT_RUNTIME = /^(wire\/|base\/(message|observe|policy|route|config|schema)$)/;
const RUNTIMES = new Set(["tokio", "mio", "async-std", "smol"]);

/** The crate that speaks to Node, and what only it may depend on: the lane knows no host. */
const NODE_HOST = "host/node";
const NODE_API = /^napi(-|$)/;

/** One crypto provider (aws-lc), no system TLS: none of these may be in the binary. */
const BANNED = new Set(["ring", "openssl", "openssl-sys", "native-tls", "rustls-native-certs"]);

/** How Cargo writes a source that is a registry: no git repository, no folder of somebody's machine. */
const REGISTRY = "registry+";

/**
 * What is wrong, one sentence each. `metadata` is the parsed output of `cargo metadata --format-version 1`; `built` holds
 * the names that `cargo tree` lists, since metadata also lists optional crates that no feature switches on.
 */
export function problems(metadata, built) {
    const packages = new Map(metadata.packages.map((pkg) => [pkg.id, pkg]));
    const nodes = new Map(metadata.resolve.nodes.map((node) => [node.id, shipped(node)]));
    const members = metadata.workspace_members.map((id) => packages.get(id));
    const place = new Map(members.map((pkg) => [pkg.id, placeOf(pkg, metadata.workspace_root)]));
    const found = [];

    for (const member of members) {
        const from = place.get(member.id);
        if (from === undefined) {
            // The bench's rivals are measured beside Leat and ship nowhere.
            if (!member.manifest_path.startsWith(`${metadata.workspace_root}/bench/`)) found.push(`${member.name} is not below crates/: move it there, or leave it out of the workspace`);
            continue;
        }
        const allowed = ALLOWED[from.folder];
        if (allowed === undefined) {
            found.push(`crates/${from.path}: there is no folder "${from.folder}" in the design; use one of ${Object.keys(ALLOWED).join(", ")}`);
            continue;
        }
        for (const id of nodes.get(member.id) ?? []) {
            const to = place.get(id);
            if (to && !allowed.includes(to.folder)) {
                found.push(`${from.path} depends on ${to.path}: ${from.folder}/* may depend on ${allowed.join(", ")} only`);
            }
        }
        if (WITHOUT_RUNTIME.test(from.path)) {
            const path = pathTo(member.id, nodes, (id) => RUNTIMES.has(packages.get(id).name));
            if (path) found.push(`${from.path} does no I/O, yet depends on a runtime: ${path.map((id) => packages.get(id).name).join(" → ")}`);
        }
        if (from.path !== NODE_HOST) {
            const path = pathTo(member.id, nodes, (id) => NODE_API.test(packages.get(id).name));
            if (path) found.push(`${from.path} depends on Node: ${path.map((id) => packages.get(id).name).join(" → ")}; only ${NODE_HOST} may`);
        }
    }

    for (const id of reachable([...place.keys()].filter((id) => place.get(id) !== undefined), nodes)) {
        const pkg = packages.get(id);
        if (BANNED.has(pkg.name) && built.has(pkg.name)) {
            const path = metadata.workspace_members.map((member) => pathTo(member, nodes, (other) => other === id)).find(Boolean);
            found.push(`${pkg.name} is banned (see deny.toml): ${path.map((other) => packages.get(other).name).join(" → ")}`);
        }
    }
    for (const pkg of metadata.packages) {
        if (pkg.source !== null && !pkg.source.startsWith(REGISTRY)) found.push(`${pkg.name} comes from ${pkg.source}: the Rust registry only`);
    }
    return found;
}

/** The ids that `node` needs to run: neither dev- nor build-dependencies. */
function shipped(node) {
    return node.deps.filter((dep) => dep.dep_kinds.some((kind) => kind.kind === null)).map((dep) => dep.pkg);
}

/** `crates/base/message/Cargo.toml` is at path `base/message` in folder `base`. */
function placeOf(pkg, root) {
    const parts = pkg.manifest_path.slice(root.length + 1).split("/");
    if (parts[0] !== "crates" || parts.length < 3) return undefined;
    return { folder: parts[1], path: parts.slice(1, -1).join("/") };
}

/** The shortest chain of dependencies from `start` to an id that `wanted` accepts. */
function pathTo(start, nodes, wanted) {
    const queue = [[start]];
    const seen = new Set([start]);
    for (const path of queue) {
        for (const id of nodes.get(path.at(-1)) ?? []) {
            if (seen.has(id)) continue;
            seen.add(id);
            if (wanted(id)) return [...path, id];
            queue.push([...path, id]);
        }
    }
    return undefined;
}

function reachable(starts, nodes) {
    const seen = new Set(starts);
    for (const id of seen) for (const next of nodes.get(id) ?? []) seen.add(next);
    return seen;
}
