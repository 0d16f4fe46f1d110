// Where `leat run` differs from Express on node:http, beside exceptions.mjs: why → cases, of each fifth of the table. One that
// differs no more fails, so that the list stays true. LEAT_CASE_OPEN=1 shows the differences.
const lists = {
    "not done: `_headers` is the engine's own form of a reply's fields": ["4 interplay: res._headers and _headerNames"],
    "a reply that is the connection's last ends what is told of the request's body": ["4 res-stream: events of a response"],
    "as Node.js 22, whose version it tells": ["4 res-stream: writeHead with a list"],
    "another zlib: other bytes, which mean the same": ["5 interplay: compression: HEAD", "5 interplay: compression: on a kept connection"],
    "texts of QuickJS's own errors, or of a newer V8 than Node 20's": [
        "4 bad-input: app.del and app.configure",
        "4 body-json: a failure, then another on the connection",
        "4 body-json: the error's body",
        "4 body-json: verify",
        "4 request-proxy: trust proxy: what is refused",
        "4 res-cookie: cookie of a lone surrogate",
        "4 res-format: a callback is no function",
        "4 res-headers: set of a bad name",
        "4 res-json: json a BigInt",
        "4 res-json: jsonp of a circle",
        "4 res-send: send a circle",
        "4 res-status: status of a Symbol",
        "4 static: static of options of another type",
        "4 views: app.engine without an extension",
        "5 body-json: strict off",
        "5 request-proxy: assigning what is computed",
        "5 res-cookie: cookie of a circle",
        "5 views: app.render without a callback",
    ],
    "not done: a name that the bundle has twice has a number": [
        "4 router-order: the shape of a stack",
        "5 settings: app.router in 5 is the router that the app uses",
        "5 views: 'views' by default",
    ],
};

/** Names of cases that differ, with why. */
export const open = new Map(Object.entries(lists).flatMap(([why, names]) => names.map((name) => [name, why])));
