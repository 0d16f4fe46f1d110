// node:punycode, from the package that Node's is. Its file is named since its name is this module's.
module.exports = require("../node_modules/punycode/punycode.js");
