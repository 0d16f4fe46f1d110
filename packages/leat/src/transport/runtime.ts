// The Node.js that undici 7 runs on. The package's other entries run on older ones, so its `engines` does not ask for as much.

const MAJOR = 20;
const MINOR = 18;
const PATCH = 1;

const [major = 0, minor = 0, patch = 0] = process.versions.node.split(".", 3).map(Number);
if (major < MAJOR || (major === MAJOR && (minor < MINOR || (minor === MINOR && patch < PATCH)))) {
    throw Object.assign(new Error(`leat/transport runs on Node.js ${MAJOR}.${MINOR}.${PATCH} and newer, and this is ${process.versions.node}; take the last Node.js ${MAJOR}, or a newer one`), { code: "LEAT_NODE_TOO_OLD" });
}
