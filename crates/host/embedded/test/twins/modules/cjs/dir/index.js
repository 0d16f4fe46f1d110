module.exports = "dir index";
