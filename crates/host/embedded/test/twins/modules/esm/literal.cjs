module.exports = { a: 1, b, c: c(), d: 2 }; function c() { return 3; } var b;
