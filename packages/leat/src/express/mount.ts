import { debugOf } from "./libraries";
import { type Application, type Next, type Request, type Response, type Router } from "./types";

const debug = debugOf("express:application");

/** Makes `child` answer what comes to `path` of `parent`. */
export function mount(parent: Application, router: Router, path: unknown, child: Application): void {
    debug(".use app under %s", path);
    child.mountpath = path as string;
    child.parent = parent;
    // Tools know a mounted app by this function's name.
    router.use(path, function mounted_app(req: Request, res: Response, next: Next) {
        const original = req.app;
        child.handle(req, res, (error) => {
            Object.setPrototypeOf(req, original.request);
            Object.setPrototypeOf(res, original.response);
            next(error);
        });
    });
    child.emit("mount", parent);
}
