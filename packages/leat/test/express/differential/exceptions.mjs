// Where a subject is meant to differ from real Express on node:http: name of the case (`FILE: NAME`, or with the version in
// front: `5 FILE: NAME`) → why; or `{ on, below, from, why }` for some subjects, or some major versions of Node, only.
//
// A case that stands here and shows no difference any more fails, so that the list stays true.
const ENGINE = ["leat", "http", "embedded"];
const engine = (why) => ({ on: ENGINE, why });
const HIGH_BYTES = engine("the engine lets them through as browsers send them; llhttp refuses them");
const MOUNTED = {
    on: ["leat", "leat-node", "embedded"],
    why: "a mounted app that added nothing to its request and response gets the parent's messages with its own `app`: a second prototype for each message makes a request on Node 20 several times slower; an app that did add something gets its prototypes",
};

const PROXY = {
    on: ["leat", "leat-node"],
    from: 26,
    why: "a router's `stack` is an array behind a proxy, which notes edits, and Node 26 prints it as `Proxy([…])`",
};

const differs = {
    "router-params: params with bytes above 0x7f": HIGH_BYTES,
    "router-order: names on a router": PROXY,
    "router-order: what use and get return": PROXY,
    "static: a target with bytes above 0x7f": HIGH_BYTES,
    "static: a target with a fragment": engine("the engine refuses it (400): a fragment is no part of a target (RFC 9112 section 3.2.1)"),
    "mounting: req.app and prototypes inside, and behind": MOUNTED,
    "mounts: prototypes of the messages in each app": MOUNTED,
};

const major = Number(process.versions.node.split(".")[0]);

/** Why the case `name` (with its version) may differ on `subject`, or undefined. */
export function exception(name, subject) {
    const found = differs[name] ?? differs[name.slice(2)];
    if (found === undefined || typeof found === "string") return found;
    const { on = [subject], below = Infinity, from = 0, why } = found;
    return on.includes(subject) && major < below && major >= from ? why : undefined;
}

export const names = Object.keys(differs);

/** Those that leat/express has, with the Node from which on, and why. */
export const ofLeat = Object.entries(differs).flatMap(([name, found]) => {
    const { on = ["leat"], from, why } = typeof found === "string" ? { why: found } : found;
    return on.includes("leat") ? [[name, from === undefined ? why : `from Node.js ${from} on: ${why}`]] : [];
});
