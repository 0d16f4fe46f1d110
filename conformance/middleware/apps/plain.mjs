// A program as people write them: ECMAScript modules, a chain of middleware, app.listen.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { load } = await import(pathToFileURL(`${process.cwd()}/load.mjs`));
const packages = ["cors", "helmet", "morgan", "compression", "cookie-parser", "express-session", process.env.LEAT_EXPRESS ?? "express"];
const [cors, helmet, morgan, compression, cookieParser, session, express] = (await Promise.all(packages.map(load))).map((module) => module.default);

const app = express();
app.use(morgan("tiny", { stream: process.stderr, skip: () => true }), helmet(), cors(), compression({ threshold: 0 }), cookieParser(), session({ secret: "secret", resave: false, saveUninitialized: false }), express.json());
app.post("/count", (request, response) => {
    request.session.count = (request.session.count ?? 0) + request.body.by;
    response.json({ count: request.session.count, cookies: Object.keys(request.cookies) });
});
app.use("/static", express.static(process.cwd()));
const server = app.listen(0, "127.0.0.1", () => createRequire(import.meta.url)("./announce.cjs")(server, express));
