// `leat/express`: Express 5.
import { bundled, expressOf } from "./create";
import { five, prototypes } from "./five";

const express = expressOf(prototypes);

const { Router } = five;
const { json, raw, static: serveStatic, text, urlencoded } = bundled(five);

const { Route } = Router;
const { application, request, response } = prototypes;
// Node reads the names that an import may use out of the text of an assignment of plain names.
const members = (module.exports = {
    application,
    json,
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
