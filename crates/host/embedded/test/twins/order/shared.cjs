console.log("shared");
exports.count = (globalThis.shared = (globalThis.shared ?? 0) + 1);
