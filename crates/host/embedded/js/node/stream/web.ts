// node:stream/web.
module.exports = require("leat:web/streams");
