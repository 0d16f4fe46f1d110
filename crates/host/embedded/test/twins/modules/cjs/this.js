module.exports = { strict: (function () { return this === undefined })(), self: this === module.exports, args: arguments.length }
