import { type Dialect } from "./dialect";
import { type Application, type Next, type Request, type Response } from "./types";

/** What answers a request that no middleware answered: 404, or the error. */
export function finalHandler(dialect: Dialect, app: Application, req: Request, res: Response): Next {
    // Express asks for it here; nobody can tell, but a method in the place of ours.
    const early = app.get === dialect.ownApp.get ? undefined : app.get("env");
    return (error) => {
        const done = dialect.libraries.finalHandler()(req, res, {
            env: early ?? app.get("env"),
            onerror: (reason: unknown) => {
                if (app.get("env") !== "test") console.error(dialect.errorText(reason));
            },
        });
        done(error);
    };
}
