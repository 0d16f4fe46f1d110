import assert from "node:assert/strict";
import { test } from "node:test";
import { problems } from "./dependencies.mjs";

const REGISTRY = "registry+https://index.example.org";

/** Metadata of a workspace from `{ "base/message": ["tokio", "dev:testkit"] }`; names without a row come from the registry. */
function workspace(rows, sources = {}) {
    const names = new Set([...Object.keys(rows), ...Object.values(rows).flat().map((to) => to.replace(/^(dev|build):/, ""))]);
    const member = (name) => name in rows && !name.startsWith("extern:");
    return {
        workspace_root: "/w",
        workspace_members: Object.keys(rows).filter(member),
        packages: [...names].map((name) => ({
            id: name,
            name: name.replace("extern:", ""),
            manifest_path: member(name) ? `/w/crates/${name}/Cargo.toml` : `/registry/${name}/Cargo.toml`,
            source: member(name) ? null : (sources[name] ?? REGISTRY),
        })),
        resolve: {
            nodes: [...names].map((name) => ({
                id: name,
                deps: (rows[name] ?? []).map((to) => {
                    const [, kind = null, pkg] = /^(?:(dev|build):)?(.*)$/.exec(to);
                    return { pkg, dep_kinds: [{ kind }] };
                }),
            })),
        },
    };
}

const cases = [
    ["the layout of the design is accepted", { "base/message": [], "wire/h1": ["base/message"], "outbound/dial": ["wire/h1", "extern:tokio"], "inbound/serve": ["wire/h1", "extern:tokio"], "handle/gateway": ["outbound/dial"], cli: ["handle/gateway", "inbound/serve"] }, []],
    ["a handler may not import inbound", { "inbound/route": [], "handle/gateway": ["inbound/route"] }, [/handle\/gateway depends on inbound\/route/]],
    ["base may not import wire", { "wire/h1": [], "base/message": ["wire/h1"] }, [/base\/message depends on wire\/h1/]],
    ["inbound may not import a handler", { "handle/files": [], "inbound/serve": ["handle/files"] }, [/inbound\/serve depends on handle\/files/]],
    ["the testkit ships nowhere", { testkit: [], "inbound/serve": ["testkit"] }, [/depends on testkit/]],
    ["the testkit is for tests", { testkit: [], "inbound/serve": ["dev:testkit"] }, []],
    ["wire may not have a runtime", { "wire/h1": ["extern:tokio"] }, [/wire\/h1 does no I\/O.*→ tokio/]],
    ["wire may not have a runtime through others", { "wire/h1": ["extern:tokio-util"], "extern:tokio-util": ["extern:tokio"] }, [/→ tokio-util → tokio/]],
    ["base/message may not have a runtime", { "base/message": ["extern:mio"] }, [/base\/message does no I\/O/]],
    ["a runtime for tests is fine", { "wire/h1": ["dev:extern:tokio"] }, []],
    ["a second crypto provider is banned", { cli: ["extern:rustls"], "extern:rustls": ["extern:ring"] }, [/ring is banned.*rustls → ring/]],
    ["a banned crate that no feature switches on is not there", { cli: ["extern:ring"] }, [], {}, ["ring"]],
    ["the Node host has the lane, the engine and Node's interface", { "handle/script": [], "inbound/serve": [], "host/node": ["handle/script", "inbound/serve", "extern:napi", "extern:napi-derive"] }, []],
    ["the lane knows no host", { "handle/script": ["extern:napi-sys"] }, [/handle\/script depends on Node: handle\/script → napi-sys/]],
    ["the lane may not import inbound", { "inbound/serve": [], "handle/script": ["inbound/serve"] }, [/handle\/script depends on inbound\/serve/]],
    ["the binary has no Node host", { "host/node": ["extern:napi"], cli: ["host/node"] }, [/cli depends on Node: cli → host\/node → napi/]],
    ["a folder that the design does not know", { "other/thing": [] }, [/no folder "other"/]],
    ["crates come from the registry", { cli: ["extern:thing"] }, [/thing comes from git/], { "extern:thing": "git+https://example.org/thing" }],
];

for (const [name, rows, expected, sources, unbuilt = []] of cases) {
    test(name, () => {
        const metadata = workspace(rows, sources);
        const built = new Set(metadata.packages.map((pkg) => pkg.name).filter((pkg) => !unbuilt.includes(pkg)));
        const found = problems(metadata, built);
        assert.equal(found.length, expected.length, found.join("\n"));
        expected.forEach((pattern, at) => assert.match(found[at], pattern));
    });
}
