// As program.mts, in a CommonJS module with the two forms of import that there are.
import express = require("leat/express");
import { Router, urlencoded } from "leat/express";

const app = express();
const router: express.Router = Router();
router.get("/:id", (req: express.Request, res: express.Response) => void res.send(req.params["id"]));
app.use(urlencoded({ extended: true }), router);
app.use((error: Error, _req: express.Request, res: express.Response, next: express.NextFunction) => {
    if (res.headersSent) return next(error);
    res.sendStatus(500);
});
app.listen(0);
