module.exports = require("./assigned.cjs");
