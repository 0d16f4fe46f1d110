import express = require("../../../../../packages/leat/src/express/index");

module.exports = express;
