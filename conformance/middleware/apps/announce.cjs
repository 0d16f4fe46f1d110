// How the apps in this folder say that they listen, and end on SIGTERM.
const { createRequire } = require("node:module");

const project = createRequire(`${process.cwd()}/package.json`);

/** Prints `server`'s port and whether it and `express` are Leat's. */
module.exports = function announce(server, express) {
    process.once("SIGTERM", () => server.close());
    const leat = { server: server instanceof project("leat/http").Server, express: express === project("leat/express") || express === project("leat/express4") };
    console.log(JSON.stringify({ port: server.address().port, leat }));
};
