// Cookies, and what is kept between requests.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { use } from "../subjects.mjs";
import { middleware } from "../suite.mjs";

const cookieParser = await use("cookie-parser");
const session = await use("express-session");
const makeFileStore = await use("session-file-store");
const makeMemoryStore = await use("memorystore");
const cookieSession = await use("cookie-session");
const flash = await use("connect-flash");
const { doubleCsrf } = await use("csrf-csrf", { all: true });
const csurf = await use("csurf");
const lusca = await use("lusca");

middleware("cookie-parser", ({ express, it }) => {
    const app = () => {
        const made = express().use(cookieParser(["new secret", "old secret"]));
        made.get("/", (request, response) => response.json({ cookies: request.cookies, signed: request.signedCookies, secret: request.secret }));
        made.get("/set", (request, response) => response.cookie("plain", "ü;").cookie("object", { a: [1] }).cookie("signed", "value", { signed: true, httpOnly: true, sameSite: "lax" }).send("set"));
        return made;
    };

    it("plain, encoded and JSON cookies", async ({ listen }) => {
        const peer = await listen(app());
        assert.deepEqual((await peer.get("/", { cookie: "a=1; b=%C3%BC; c=j%3A%7B%22d%22%3A2%7D; e=%zz; a=2" })).json, { cookies: { a: "1", b: "ü", c: { d: 2 }, e: "%zz" }, signed: {}, secret: "new secret" });
        assert.deepEqual((await peer.get("/")).json.cookies, {});
    });

    it("what the app set comes back, signed with any of the secrets; forged ones do not", async ({ listen }) => {
        const peer = await listen(app());
        const set = await peer.get("/set");
        assert.match(set.headers["set-cookie"][2], /^signed=s%3Avalue\..*; Path=\/; HttpOnly; SameSite=Lax$/);
        assert.deepEqual((await peer.get("/", { cookie: set.cookie })).json, { cookies: { plain: "ü;", object: { a: [1] } }, signed: { signed: "value" }, secret: "new secret" });
        assert.deepEqual((await peer.get("/", { cookie: "signed=s%3Avalue.forged" })).json.signed, { signed: false });
    });
});

middleware(["express-session", "memorystore"], ({ express, it }) => {
    const MemoryStore = makeMemoryStore(session);
    function app(options = {}) {
        const made = express();
        made.use(session({ secret: "secret", resave: false, saveUninitialized: false, store: new MemoryStore({ checkPeriod: undefined }), ...options }));
        made.get("/count", (request, response) => {
            request.session.count = (request.session.count ?? 0) + 1;
            response.json({ count: request.session.count });
        });
        made.get("/none", (request, response) => response.send("no session"));
        made.get("/redirect", (request, response) => {
            request.session.from = request.url;
            response.redirect(303, "/count");
        });
        made.get("/stream", (request, response) => {
            request.session.streamed = true;
            response.write("half");
            response.end(" and half");
        });
        made.get("/new", (request, response, next) => {
            const before = request.sessionID;
            request.session.regenerate((error) => error ? next(error) : response.json([request.sessionID !== before, request.session.count === undefined]));
        });
        made.get("/leave", (request, response, next) => request.session.destroy((error) => error ? next(error) : response.clearCookie("connect.sid").json(request.session === undefined)));
        made.use((error, request, response, next) => response.headersSent ? next(error) : response.status(500).send(error.message));
        return made;
    }

    it("counts from request to request, of one client and of two", async ({ listen }) => {
        const peer = await listen(app());
        const { cookie, json, headers } = await peer.get("/count");
        assert.deepEqual(json, { count: 1 });
        assert.match(headers["set-cookie"][0], /^connect\.sid=s%3A[^;]+; Path=\/; HttpOnly$/);
        assert.deepEqual((await peer.get("/count", { cookie })).json, { count: 2 });
        assert.deepEqual((await peer.get("/count")).json, { count: 1 });
        assert.deepEqual((await peer.get("/count", { cookie })).json, { count: 3 });
        assert.equal((await peer.get("/none")).headers["set-cookie"], undefined);
    });

    it("is stored before the reply of a redirect or a stream ends", async ({ listen }) => {
        const peer = await listen(app());
        const redirect = await peer.get("/redirect");
        assert.deepEqual([redirect.status, (await peer.get("/count", { cookie: redirect.cookie })).json], [303, { count: 1 }]);
        const stream = await peer.get("/stream");
        assert.deepEqual([stream.text, (await peer.get("/count", { cookie: stream.cookie })).json], ["half and half", { count: 1 }]);
    });

    it("regenerate, destroy, and cookies that are not ours", async ({ listen }) => {
        const peer = await listen(app());
        const { cookie } = await peer.get("/count");
        const renewed = await peer.get("/new", { cookie });
        assert.deepEqual(renewed.json, [true, true]);
        assert.equal((await peer.get("/leave", { cookie: renewed.cookie })).json, true);
        assert.deepEqual((await peer.get("/count", { cookie })).json, { count: 1 });
        assert.deepEqual((await peer.get("/count", { cookie: "connect.sid=s%3Aforged.signature" })).json, { count: 1 });
    });

    it("rolling, secure behind a proxy, and a name of its own", async ({ listen }) => {
        const rolling = app({ rolling: true, name: "sid", cookie: { maxAge: 60_000, sameSite: "strict", secure: true }, proxy: true });
        const peer = await listen(rolling);
        const secure = { "x-forwarded-proto": "https" };
        const first = await peer.get("/count", secure);
        assert.match(first.headers["set-cookie"][0], /^sid=.*; Path=\/; Expires=.*; HttpOnly; Secure; SameSite=Strict$/);
        assert.ok((await peer.get("/none", { ...secure, cookie: first.cookie })).headers["set-cookie"]);
        assert.equal((await peer.get("/count")).headers["set-cookie"], undefined);
    });

    it("a store that fails", async ({ listen }) => {
        class Broken extends session.Store {
            get(id, done) {
                done(new Error("the store is away"));
            }
            set(id, value, done) {
                done(new Error("the store is full"));
            }
        }
        const peer = await listen(app({ store: new Broken(), saveUninitialized: true }));
        const sid = (await (await listen(app())).get("/count")).cookie;
        const read = await peer.get("/count", { cookie: sid });
        assert.deepEqual([read.status, read.text], [500, "the store is away"]);
    });
});

middleware(["express-session", "session-file-store"], ({ express, it }) => {
    it("sessions outlive the app, in files", async ({ listen, after }) => {
        const path = mkdtempSync(join(tmpdir(), "leat-sessions-"));
        after(() => rmSync(path, { recursive: true, force: true }));
        const FileStore = makeFileStore(session);
        const app = () => {
            const store = new FileStore({ path, logFn: () => {}, reapInterval: -1, retries: 2, minTimeout: 10 });
            const made = express().use(session({ secret: "secret", resave: false, saveUninitialized: false, store }));
            return made.get("/count", (request, response) => {
                request.session.count = (request.session.count ?? 0) + 1;
                response.json(request.session.count);
            });
        };
        const { cookie, json } = await (await listen(app())).get("/count");
        assert.deepEqual([json, readdirSync(path).length], [1, 1]);
        assert.equal((await (await listen(app())).get("/count", { cookie })).json, 2);
    });
});

middleware("cookie-session", ({ express, it }) => {
    const app = () => {
        const made = express().use(cookieSession({ name: "session", keys: ["one", "two"], maxAge: 60_000 }));
        made.get("/count", (request, response) => {
            request.session.count = (request.session.count ?? 0) + 1;
            response.json({ count: request.session.count, fresh: request.session.isNew });
        });
        made.get("/read", (request, response) => response.json({ ...request.session }));
        made.get("/leave", (request, response) => {
            request.session = null;
            response.send("left");
        });
        return made;
    };

    it("the cookie carries the session; a forged one does not", async ({ listen }) => {
        const peer = await listen(app());
        const first = await peer.get("/count");
        assert.deepEqual(first.headers["set-cookie"].map((cookie) => cookie.split("=")[0]), ["session", "session.sig"]);
        assert.deepEqual((await peer.get("/count", { cookie: first.cookie })).json, { count: 2, fresh: false });
        const forged = first.cookie.replace(/session=[^;]+/, `session=${Buffer.from('{"count":99}').toString("base64")}`);
        assert.deepEqual((await peer.get("/read", { cookie: forged })).json, {});
        assert.equal((await peer.get("/read", { cookie: first.cookie })).headers["set-cookie"], undefined);
    });

    it("a session that is set to null is deleted", async ({ listen }) => {
        const peer = await listen(app());
        const { cookie } = await peer.get("/count");
        assert.match((await peer.get("/leave", { cookie })).headers["set-cookie"][0], /^session=; path=\/; expires=Thu, 01 Jan 1970/);
    });
});

middleware("connect-flash", ({ express, it }) => {
    it("messages live until they are read", async ({ listen }) => {
        const app = express().use(session({ secret: "secret", resave: false, saveUninitialized: true }), flash());
        app.get("/say", (request, response) => {
            request.flash("info", "one");
            request.flash("info", "two");
            response.redirect("/read");
        });
        app.get("/read", (request, response) => response.json({ info: request.flash("info"), all: request.flash() }));
        const peer = await listen(app);
        const { cookie } = await peer.get("/say");
        assert.deepEqual((await peer.get("/read", { cookie })).json, { info: ["one", "two"], all: {} });
        assert.deepEqual((await peer.get("/read", { cookie })).json, { info: [], all: {} });
    });
});

middleware("csrf-csrf", ({ express, it }) => {
    it("a token for the cookie, refused without or with another one", async ({ listen }) => {
        const { doubleCsrfProtection, generateCsrfToken, invalidCsrfTokenError } = doubleCsrf({ getSecret: () => "secret", getSessionIdentifier: () => "session", cookieName: "csrf", cookieOptions: { secure: false, sameSite: "strict" } });
        const app = express().use(cookieParser());
        app.get("/token", (request, response) => response.json({ token: generateCsrfToken(request, response) }));
        app.post("/act", doubleCsrfProtection, (request, response) => response.json("done"));
        app.get("/bound", doubleCsrfProtection, (request, response) => response.json(typeof request.csrfToken));
        app.use((error, request, response, next) => response.status(error.status ?? 500).json({ code: error.code, ours: error === invalidCsrfTokenError }));
        const peer = await listen(app, { changing: ["body"] });
        const { cookie, json } = await peer.get("/token");
        assert.deepEqual((await peer.request("POST", "/act", { headers: { cookie, "x-csrf-token": json.token } })).json, "done");
        for (const headers of [{ cookie }, { "x-csrf-token": json.token }, { cookie, "x-csrf-token": "forged" }]) {
            const refused = await peer.request("POST", "/act", { headers });
            assert.deepEqual([refused.status, refused.json], [403, { code: "EBADCSRFTOKEN", ours: true }]);
        }
        assert.equal((await peer.get("/bound")).json, "function");
    });
});

middleware("csurf", ({ express, it }) => {
    it("tokens of a session and of a cookie", async ({ listen }) => {
        const app = express().use(cookieParser(), express.urlencoded({ extended: false }));
        app.use("/session", session({ secret: "secret", resave: false, saveUninitialized: false }), csurf());
        app.use("/cookie", csurf({ cookie: true }));
        app.use((request, response) => response.json({ token: request.csrfToken() }));
        app.use((error, request, response, next) => response.status(error.status ?? 500).json(error.code));
        const peer = await listen(app, { changing: ["body"] });
        for (const path of ["/session", "/cookie"]) {
            const { cookie, json } = await peer.get(path);
            const headers = { cookie, "content-type": "application/x-www-form-urlencoded" };
            assert.equal((await peer.request("POST", path, { headers, body: `_csrf=${encodeURIComponent(json.token)}` })).status, 200);
            assert.equal((await peer.request("POST", path, { headers: { cookie, "csrf-token": json.token } })).status, 200);
            const refused = await peer.request("POST", path, { headers, body: "_csrf=forged" });
            assert.deepEqual([refused.status, refused.json], [403, "EBADCSRFTOKEN"]);
        }
    });
});

middleware("lusca", ({ express, it }) => {
    it("its fields, and tokens against forged requests", async ({ listen }) => {
        const app = express().use(session({ secret: "secret", resave: false, saveUninitialized: true }), express.urlencoded({ extended: false }));
        app.use(lusca({ csrf: true, csp: { policy: { "default-src": "'self'" } }, xframe: "SAMEORIGIN", hsts: { maxAge: 1_000 }, xssProtection: true, nosniff: true, referrerPolicy: "same-origin" }));
        app.get("/", (request, response) => response.json({ token: response.locals._csrf, same: typeof request.csrfToken }));
        app.post("/", (request, response) => response.json("done"));
        app.use((error, request, response, next) => response.status(response.statusCode >= 400 ? response.statusCode : 500).json(error.message));
        const peer = await listen(app, { changing: ["body"] });
        const { headers, cookie, json } = await peer.get("/");
        assert.deepEqual([headers["x-frame-options"], headers["content-security-policy"], headers["x-content-type-options"]], ["SAMEORIGIN", "default-src 'self'", "nosniff"]);
        assert.equal((await peer.request("POST", "/", { headers: { cookie, "content-type": "application/x-www-form-urlencoded" }, body: `_csrf=${encodeURIComponent(json.token)}` })).json, "done");
        assert.deepEqual((await peer.request("POST", "/", { headers: { cookie } })).json, "CSRF token missing");
    });
});
