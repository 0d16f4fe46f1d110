return; module.exports = 1
