import { type Dialect } from "./dialect";
import { type Application, type Request, type Response } from "./types";

/** Answers a request that no middleware answered: 404, or the error. `env` is the app's, if that was asked for before. */
export function answerUnanswered(dialect: Dialect, app: Application, req: Request, res: Response, env: unknown, error: unknown): void {
    const done = dialect.libraries.finalHandler()(req, res, {
        env: env ?? app.get("env"),
        onerror: (reason: unknown) => {
            if (app.get("env") !== "test") console.error(dialect.errorText(reason));
        },
    });
    done(error);
}
