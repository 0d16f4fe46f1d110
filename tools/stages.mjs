// The stages of `make test`, in order. `minutes` is the most a stage may take on two cores of a fresh machine.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { majors } from "./nodes.mjs";

const NOT_OURS = new Set(["node_modules", "target", "out", "dist", ".git"]);

/** Every `*.test.mjs` below `folders`, and the corpus' own check. */
function nodeTests(root, folders) {
    const found = [];
    const walk = (folder) => {
        for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
            const path = join(folder, entry.name);
            if (entry.isDirectory() && !NOT_OURS.has(entry.name)) walk(path);
            if (entry.isFile() && (path.endsWith(".test.mjs") || path === join("corpus", "check.mjs"))) found.push(path);
        }
    };
    for (const folder of folders) if (existsSync(join(root, folder))) walk(folder);
    return found.sort();
}

/**
 * All stages as data: `name`, `command`, `minutes`, `setup` for one that proves nothing by itself, and `asked` for one
 * that runs only when it is named.
 */
export function stages(root) {
    const node = process.execPath;
    const ours = nodeTests(root, ["tools", "corpus", "bench", "conformance", "examples"]);
    const packages = nodeTests(root, ["packages"]);
    const others = majors.filter((major) => major !== Number.parseInt(process.versions.node, 10));
    return [
        { name: "install", command: ["tools/install.sh", "test"], minutes: 10, setup: true },
        { name: "fmt", command: ["cargo", "fmt", "--all", "--check"], minutes: 1 },
        { name: "layout", command: [node, "tools/layout.mjs"], minutes: 1 },
        { name: "deny", command: ["tools/deny.sh"], minutes: 2, asked: true },
        { name: "clippy", command: ["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--quiet", "--", "-D", "warnings"], minutes: 12 },
        { name: "build", command: ["cargo", "build", "--workspace", "--locked"], minutes: 12, setup: true },
        { name: "rust", command: ["cargo", "test", "--workspace", "--locked", "--no-fail-fast"], minutes: 15 },
        { name: "loom", command: ["cargo", "test", "-p", "leat-script", "--features", "loom", "--lib", "--locked", "loom"], minutes: 8 },
        { name: "miri", command: ["tools/miri.sh"], minutes: 5 },
        { name: "package", command: [node, "tools/package.mjs"], minutes: 5, setup: true },
        { name: "lint", command: ["npm", "run", "--silent", "--prefix", "packages/leat", "lint"], minutes: 2 },
        // Of the embedded host's built-in modules; what builds that host installs the compiler, and does not look at types.
        { name: "types", command: [node, "crates/host/embedded/js/node_modules/typescript/bin/tsc", "--project", "crates/host/embedded/js"], minutes: 2 },
        { name: "node", command: [node, "--test", ...ours, ...packages], minutes: 10 },
        { name: "embedded", command: [node, "--test", ...nodeTests(root, ["crates/host/embedded/test"])], minutes: 10 },
        // The same tests of the package on every other Node.js that it supports.
        ...others.map((major) => ({ name: `node${major}`, command: [node, "tools/on_node.mjs", String(major), ...packages], minutes: 10 })),
        { name: "differential", command: [node, "conformance/differential/run.mjs"], minutes: 5 },
        { name: "replay", command: [node, "conformance/differential/run.mjs", "--gateway"], minutes: 10 },
        { name: "h2spec", command: [node, "conformance/h2spec/run.mjs"], minutes: 3 },
        { name: "connect", command: [node, "conformance/connect/run.mjs"], minutes: 5 },
        { name: "clients", command: [node, "--test", ...["run", "secure", "transcode"].map((name) => `conformance/clients/${name}.mjs`)], minutes: 4 },
        { name: "protovalidate", command: [node, "conformance/protovalidate/run.mjs"], minutes: 5 },
        { name: "transcode", command: [node, "conformance/transcode/run.mjs"], minutes: 3 },
        { name: "websocket", command: [node, "--test", "conformance/websocket/run.mjs"], minutes: 2 },
        { name: "frameworks", command: [node, "conformance/frameworks/run.mjs"], minutes: 3 },
        { name: "middleware", command: [node, "conformance/middleware/run.mjs"], minutes: 6 },
        { name: "fastify", command: [node, "conformance/fastify/run.mjs"], minutes: 4 },
        { name: "autobahn", command: [node, "conformance/autobahn/run.mjs"], minutes: 5 },
        // Last, since its pages use packages that stages before it install.
        { name: "docs", command: [node, "tools/docs.mjs"], minutes: 5 },
    ];
}
