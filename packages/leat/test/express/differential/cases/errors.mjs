// What becomes of errors: thrown, rejected, passed on, with and without somebody who handles them.
import { raw } from "../request.mjs";

const throwing = (name, handler, more = {}) => ({
    name,
    app(express, t) {
        const app = express();
        app.get("/", (req, res, next) => handler(req, res, next, t));
        return app;
    },
    requests: ["/"],
    ...more,
});

export default [
    throwing("thrown", () => {
        throw new Error("boom");
    }),
    throwing("thrown, in production", () => {
        throw new Error("boom");
    }, { env: "production" }),
    throwing("raw", (req, res, next, t) => {
        t.log(`${req.method} ${req.url}`);
        res.send("é");
    }, { requests: [raw`
        HEAD / HTTP/1.1
        Host: test
        Connection: close
    `, raw`
        GET / HTTP/1.1
        Host: test

        GET /none HTTP/1.1
        Host: test
        Connection: close
    `] }),
];
