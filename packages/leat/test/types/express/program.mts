// A program for `@types/express` that has only changed what it imports `express` from. It is compiled by types.test.mjs, and
// never run.
import express, { json, Router, type Application, type ErrorRequestHandler, type NextFunction, type Request, type RequestHandler, type Response } from "leat/express";
import { type ParamsDictionary } from "express-serve-static-core";

declare global {
    namespace Express {
        interface Request {
            user?: { name: string };
        }
        interface Locals {
            started: number;
        }
    }
}

declare module "express-serve-static-core" {
    interface Response {
        shout(text: string): this;
    }
}

interface Shown extends ParamsDictionary {
    id: string;
}

const app: Application = express();
const made: express.Express = express();
app.set("trust proxy", 1).use(json({ limit: "1mb" }), express.static("public"), made);
app.engine("html", (_path, _options, done) => done(null, ""));

const log: RequestHandler = (req, res, next) => {
    res.locals.started = Date.now();
    req.user = { name: req.get("x-user") ?? "nobody" };
    next();
};
const late = (error: Error, _req: Request, res: Response, next: NextFunction): void => {
    if (res.headersSent) next(error);
    else res.status(500).shout(error.message).json({ error: error.message });
};
const typed: ErrorRequestHandler = late;

const router: Router = Router({ mergeParams: true });
router.param("id", (_req, _res, next, value: string) => void (value.length > 8 ? next("route") : next()));
router
    .route("/:id")
    .get((req: Request<Shown, { name: string }>, res) => void res.json({ name: req.params.id }))
    .post<Shown, { sum: number }, { parts: number[] }, { round?: string }>((req, res) => {
        res.json({ sum: req.body.parts.reduce((sum, part) => sum + part, req.query.round === undefined ? 0 : 1) });
    });
app.use("/things", log, router, typed);
app.get("/user/:name", async (req, res) => {
    const { name } = req.params;
    res.cookie("seen", name, { httpOnly: true }).type("txt").send(name.toUpperCase());
});
const server = app.listen(3000, "127.0.0.1");
server.closeIdleConnections();

export const answers: RequestHandler[] = [log];
