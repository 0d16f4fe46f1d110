// node:util/types.
module.exports = require("../../leat/types");
