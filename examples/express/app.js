// Short links. `require("express")` in place of "leat/express" is the same program on Express.
const { join } = require("node:path");
const express = require("leat/express");
const links = require("./links");

const app = express();

app.set("json spaces", 2);
app.use(express.static(join(__dirname, "public")));
app.use("/api/links", express.json({ limit: "16kb" }), links.router);

app.get("/:name", (request, response, next) => {
    const link = links.follow(request.params.name);
    if (link === undefined) return next();
    response.redirect(302, link.to);
});

app.use((request, response) => {
    response.status(404).json({ error: `there is nothing at ${request.path}` });
});

// An error of a client says what is wrong; one of ours says no more than that.
app.use((error, _request, response, next) => {
    if (response.headersSent) return next(error);
    const status = error.status ?? 500;
    if (status >= 500) console.error(error);
    response.status(status).json({ error: status >= 500 ? "this went wrong here" : error.message });
});

module.exports = app;
