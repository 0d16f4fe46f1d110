// `url.parse` and its kin. The file is named since the package's name is Node's module.
module.exports = require("../node_modules/url/url.js");
