// node:stream/promises.
module.exports = require("readable-stream/lib/stream/promises");
