module.exports = "main: " + require("path").basename(__filename);
