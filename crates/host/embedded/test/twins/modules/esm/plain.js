exports.cjs = "by default";
