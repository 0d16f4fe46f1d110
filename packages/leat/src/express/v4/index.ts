// `leat/express4`: Express 4.
import { bundled, expressOf, named } from "../create";
import { Route4 } from "../routers";
import { deprecationsOf } from "../libraries";
import { four, prototypes } from "./four";
import * as parsers from "./query";

/** Middleware that Express 3 had. */
const REMOVED = [
    "bodyParser",
    "compress",
    "cookieSession",
    "session",
    "logger",
    "cookieParser",
    "favicon",
    "responseTime",
    "errorHandler",
    "timeout",
    "methodOverride",
    "vhost",
    "csrf",
    "directory",
    "limit",
    "multipart",
    "staticCache",
];

const express = expressOf(prototypes);

const { json, raw, static: serveStatic, text, urlencoded: parseForms } = bundled(four);

const bodyParserDeprecations = deprecationsOf(() => four.libraries.depd()("body-parser"));

// What body-parser says about a missing option, said here, since it would tell of this file as the caller.
const urlencoded = named("urlencoded", function (options?: { extended?: boolean }) {
    if (options?.extended !== undefined) return parseForms(options as never);
    bodyParserDeprecations()("undefined extended: provide extended option");
    return parseForms({ ...options, extended: true } as never);
});

Object.defineProperty(serveStatic, "mime", { configurable: true, enumerable: true, get: () => four.libraries.serveStatic().mime });

for (const name of REMOVED) {
    Object.defineProperty(express, name, {
        configurable: true,
        get() {
            throw new Error(
                `Most middleware (like ${name}) is no longer bundled with Express and must be installed separately. Please see https://github.com/senchalabs/connect#middleware.`,
            );
        },
    });
}

const { Router } = four;
const Route = Route4;
const { query } = parsers;
const { application, request, response } = prototypes;
// Node reads the names that an import may use out of the text of an assignment of plain names.
const members = (module.exports = {
    application,
    json,
    query,
    raw,
    request,
    response,
    Route,
    Router,
    static: serveStatic,
    text,
    urlencoded,
});

export = Object.assign(express, members);
