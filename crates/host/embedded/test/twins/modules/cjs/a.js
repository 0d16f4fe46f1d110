exports.early = 1; const b = require('./b'); exports.b = b.name; exports.sawEarly = b.saw; exports.done = true;
