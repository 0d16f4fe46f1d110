// node:assert/strict.
module.exports = (require("../assert") as { strict: unknown }).strict;
