// node:path. Paths here are POSIX paths; `path.win32` has Windows's rules.
import { posix } from "../leat/path_posix";

type Path = typeof posix & { win32?: unknown; posix?: unknown };
const path: Path = posix;
path.posix = path;
Object.defineProperty(path, "win32", {
    configurable: true,
    enumerable: true,
    get: () => (require("../leat/path_win32") as { win32: unknown }).win32,
});

module.exports = path;
