// The app around a body parser, for the cases of the four parsers.
import { shown, tells } from "./shapes.mjs";

/** What a program sees of `req.body`: its type and value, and whether a parser has been there. */
export const seen = (req) => `${shown(req.body)} in:${"body" in req} read:${String(req._body)}`;

/**
 * A case whose app has `express[parser](options)` and answers with what `req.body` is; `tells` is behind it. `options` may be a
 * function of `t`. In `more`, `before` is a middleware in front, `after` takes the place of the answer.
 */
export const parses = (parser, name, options, requests, { before, after, only, harness = {} } = {}) => ({
    name,
    app(express, t) {
        const app = express();
        if (before !== undefined) app.use((req, res, next) => before(req, res, next, t));
        app.use(express[parser](typeof options === "function" ? options(t) : options));
        app.use((req, res, next) => {
            if (after === undefined) res.send(seen(req));
            else after(req, res, next, t);
        });
        app.use(tells(t));
        return app;
    },
    requests,
    ...(only === undefined ? {} : { only }),
    ...harness,
});

/** Cases that only construct `express[parser](options)`, and log what that throws. */
export const constructs = (parser, list) => list.map(([name, options]) => ({
    name: `construct: ${name}`,
    app(express, t) {
        try {
            const made = express[parser](options);
            t.log(`${typeof made} ${made.name} ${made.length}`);
        } catch (error) {
            t.log(`${error.name}: ${error.message}`);
        }
        t.log(`${express[parser].name} ${express[parser].length}`);
    },
    requests: [],
}));
