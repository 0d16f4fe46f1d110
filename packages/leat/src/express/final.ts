import { type Dialect } from "./dialect";
import { type Application, type Next, type Request, type Response } from "./types";

/** What answers a request that no middleware answered: 404, or the error. */
export function finalHandler(dialect: Dialect, app: Application, req: Request, res: Response): Next {
    return (error) => {
        const done = dialect.libraries.finalHandler()(req, res, {
            env: app.get("env"),
            onerror: (reason: unknown) => {
                if (app.get("env") !== "test") console.error(dialect.errorText(reason));
            },
        });
        done(error);
    };
}
