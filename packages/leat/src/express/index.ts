// `leat/express`: Express 5.
import { bundled, createApplication } from "./create";
import { five, prototypes } from "./five";
import { type Application } from "./types";

const express = (): Application => createApplication(prototypes);

const { Router } = five;
const { json, raw, static: serveStatic, text, urlencoded } = bundled(five);

const members = {
    ...prototypes,
    Route: Router.Route,
    Router,
    json,
    raw,
    static: serveStatic,
    text,
    urlencoded,
};

export = Object.assign(express, members);
