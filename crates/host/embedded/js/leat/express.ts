import express = require("../../../../../packages/leat/src/express/index");

export = express;
