import express = require("../../../../../packages/leat/src/express/v4/index");

export = express;
