module.exports = "cjs";
