// Handlers that programs are made of.
import { state } from "../exchange.mjs";

/** Logs and goes on. */
export const pass = (name) => (req, res, next) => {
    req.log(`${name}:`, state(req));
    next();
};

/** Logs and answers. */
export const answer = (name) => (req, res) => {
    req.log(`${name}!`, state(req));
    res.end(name);
};

/** Logs and goes on with what it is given. */
export const forward = (name, ...what) => (req, res, next) => {
    req.log(`${name} ->`, state(req));
    next(...what);
};

/** Logs an error and goes on with it. */
export const caught = (name) => (error, req, res, next) => {
    req.log(`${name} caught`, error, state(req));
    next(error);
};

/** Logs an error and goes on without it. */
export const mended = (name) => (error, req, res, next) => {
    req.log(`${name} mended`, error, state(req));
    next();
};
