module.exports = "main: " + __filename.split("/").pop();
