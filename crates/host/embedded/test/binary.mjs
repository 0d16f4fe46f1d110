// The binary that the tests run: LEAT_BIN, or the newer one of what Cargo built.
import { existsSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(`../../../../target/${path}`, import.meta.url));
const built = [at("release/leat"), at("debug/leat")].filter((path) => existsSync(path));
built.sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);

/** Its path. */
export const leat = process.env.LEAT_BIN ?? built[0] ?? "target/debug/leat (not built: run cargo build -p leat-cli)";
