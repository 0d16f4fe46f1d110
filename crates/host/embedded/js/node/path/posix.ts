// node:path/posix.
module.exports = require("../path");
