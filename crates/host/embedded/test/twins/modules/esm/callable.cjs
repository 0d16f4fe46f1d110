module.exports = function callable() { return "called"; }; module.exports.extra = "e";
