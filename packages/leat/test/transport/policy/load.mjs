// Policies are no entry of the package: its tests take them out of its folder.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export const load = (name) => require(`../../../dist/transport/policy/${name}.js`);
