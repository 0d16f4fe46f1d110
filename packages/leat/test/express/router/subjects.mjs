// The routers that programs run on: npm's, and ours. npm's come from the packages of the differential table of Express.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";

const FIXTURE = new URL("../differential/package.json", import.meta.url);
const ours = createRequire(import.meta.url);
const theirs = createRequire(process.env.LEAT_ROUTERS ?? FIXTURE);

export const installed = process.env.LEAT_ROUTERS !== undefined || existsSync(new URL("node_modules", FIXTURE));

/** `{ Router, Layer, Route }` of a dialect, real and ours. */
export function pair(version) {
    return { real: real(version), leat: leat(version) };
}

export function leat(version) {
    const { [`Router${version}`]: Router, [`Layer${version}`]: Layer, [`Route${version}`]: Route } = ours("../../../dist/express/router/index.js");
    return { Router, Layer, Route };
}

export function real(version) {
    if (version === 4) {
        return { Router: theirs("express4/lib/router"), Layer: theirs("express4/lib/router/layer"), Route: theirs("express4/lib/router/route") };
    }
    const { Router } = theirs("express");
    const router = createRequire(theirs.resolve("express"))("router");
    // The module of layers is not exported, but stands in the stack.
    const Layer = Router().use(() => {}).stack[0].constructor;
    return { Router: router, Layer, Route: router.Route };
}
