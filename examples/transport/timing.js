// Tells of each call how long it took, with all its tries and waits.
"use strict";
const { middleware, slot } = require("leat/middleware");

/** Where the beginning of a call is kept: a slot is told by itself, so no other middleware can take its place. */
const started = slot("started").of();

/** `call`: it runs once, whatever is tried again inside. */
const timing = (tell) =>
    middleware({
        name: "timing",
        scope: "call",
        writes: [started],
        onRequest: () => ({ set: { started: performance.now() } }),
        onComplete(context) {
            const { method, path } = context.request;
            tell({ method, path, status: context.response?.status, ms: performance.now() - context.get(started) });
        },
    });

module.exports = { timing };
