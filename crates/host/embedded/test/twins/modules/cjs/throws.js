module.exports = 7; throw new Error("boom " + __filename.split("/").pop());
