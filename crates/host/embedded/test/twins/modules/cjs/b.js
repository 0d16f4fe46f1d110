const a = require('./a.js'); exports.name = 'b'; exports.saw = Object.keys(a).join();
