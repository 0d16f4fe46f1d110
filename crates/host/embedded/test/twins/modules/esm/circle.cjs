exports.got = require("./circle.mjs");
