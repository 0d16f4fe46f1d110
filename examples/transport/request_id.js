// A name and a number for each try, so that logs of both sides can be laid beside each other.
"use strict";
const { randomUUID } = require("node:crypto");
const { middleware } = require("leat/middleware");

/** `attempt`: it runs once a try, and knows which one. What it returns is a patch: the request itself never changes. */
const requestId = () =>
    middleware({
        name: "request-id",
        scope: "attempt",
        onRequest: (context) => ({ headers: { "x-request-id": randomUUID(), "x-request-try": String(context.attempt) } }),
    });

module.exports = { requestId };
