0 && (module.exports = { hinted, "also hinted": 1 }); module["exports"] = { hinted: "h" };
