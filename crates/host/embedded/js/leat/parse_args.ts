// `util.parseArgs`, from the package that Node's was made of.
module.exports = require("@pkgjs/parseargs");
