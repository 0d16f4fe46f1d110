// node:path/win32.
module.exports = (require("../path") as { win32: unknown }).win32;
