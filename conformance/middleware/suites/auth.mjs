// Who is it?
import assert from "node:assert/strict";
import { use } from "../subjects.mjs";
import { middleware } from "../suite.mjs";

const passport = await use("passport");
const { Strategy: LocalStrategy } = await use("passport-local");
const { BasicStrategy, DigestStrategy } = await use("passport-http");
const { Strategy: JwtStrategy, ExtractJwt } = await use("passport-jwt");
const { expressjwt } = await use("express-jwt", { all: true });
const jsonwebtoken = await use("jsonwebtoken");
const basicAuth = await use("express-basic-auth");
const bearerToken = await use("express-bearer-token");
const session = await use("express-session");
const flash = await use("connect-flash");
const { unless } = await use("express-unless", { all: true });

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const basic = (name, password) => ({ authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}` });

middleware(["passport", "passport-local"], ({ express, it }) => {
    function app() {
        const authenticator = new passport.Passport();
        authenticator.use(new LocalStrategy((name, password, done) => {
            if (name === "broken") return done(new Error("the directory is away"));
            setImmediate(() => done(null, password === "right" ? { id: 7, name } : false, { message: "wrong password" }));
        }));
        authenticator.serializeUser((user, done) => done(null, `${user.id}:${user.name}`));
        authenticator.deserializeUser((id, done) => done(null, { id: Number(id.split(":")[0]), name: id.split(":")[1] }));
        const made = express();
        made.use(express.urlencoded({ extended: false }), session({ secret: "secret", resave: false, saveUninitialized: false }), flash(), authenticator.initialize(), authenticator.session());
        made.post("/login", authenticator.authenticate("local", { successRedirect: "/me", failureRedirect: "/again", failureFlash: true }));
        made.post("/plain", authenticator.authenticate("local", { session: false }), (request, response) => response.json(request.user));
        made.post("/own", (request, response, next) => authenticator.authenticate("local", (error, user, info) => {
            if (error) return next(error);
            if (!user) return response.status(422).json(info);
            request.logIn(user, (failed) => failed ? next(failed) : response.json({ in: request.isAuthenticated() }));
        })(request, response, next));
        made.get("/me", (request, response) => request.isAuthenticated() ? response.json(request.user) : response.sendStatus(401));
        made.get("/again", (request, response) => response.json(request.flash("error")));
        made.post("/logout", (request, response, next) => request.logout((error) => error ? next(error) : response.json({ out: request.isUnauthenticated() })));
        made.use((error, request, response, next) => response.status(error.status ?? 500).json(error.message));
        return made;
    }
    const login = (peer, path, name, password) => peer.request("POST", path, { headers: FORM, body: `username=${name}&password=${password}` });

    it("log in, be known, log out", async ({ listen }) => {
        const peer = await listen(app());
        const inside = await login(peer, "/login", "ann", "right");
        assert.deepEqual([inside.status, inside.headers.location], [302, "/me"]);
        assert.deepEqual((await peer.get("/me", { cookie: inside.cookie })).json, { id: 7, name: "ann" });
        assert.equal((await peer.get("/me")).status, 401);
        const out = await peer.request("POST", "/logout", { headers: { cookie: inside.cookie } });
        assert.deepEqual(out.json, { out: true });
        assert.equal((await peer.get("/me", { cookie: inside.cookie })).status, 401);
    });

    it("a wrong password, with the message of the flash", async ({ listen }) => {
        const peer = await listen(app());
        const outside = await login(peer, "/login", "ann", "wrong");
        assert.equal(outside.headers.location, "/again");
        assert.deepEqual((await peer.get("/again", { cookie: outside.cookie })).json, ["wrong password"]);
    });

    it("without a session, with a callback, and with an error", async ({ listen }) => {
        const peer = await listen(app());
        const plain = await login(peer, "/plain", "ann", "right");
        assert.deepEqual([plain.json, plain.headers["set-cookie"]], [{ id: 7, name: "ann" }, undefined]);
        const refused = await login(peer, "/plain", "ann", "wrong");
        assert.deepEqual([refused.status, refused.text], [401, "Unauthorized"]);
        assert.deepEqual((await login(peer, "/own", "ann", "right")).json, { in: true });
        assert.deepEqual([(await login(peer, "/own", "ann", "wrong")).status, (await login(peer, "/own", "broken", "x")).json], [422, "the directory is away"]);
    });
});

middleware(["passport", "passport-http", "passport-jwt"], ({ express, it }) => {
    it("Basic: the challenge and the user", async ({ listen }) => {
        const authenticator = new passport.Passport().use(new BasicStrategy({ realm: "here" }, (name, password, done) => done(null, password === "right" && { name })));
        const peer = await listen(express().get("/", authenticator.authenticate("basic", { session: false }), (request, response) => response.json(request.user)));
        const refused = await peer.get("/");
        assert.deepEqual([refused.status, refused.headers["www-authenticate"]], [401, 'Basic realm="here"']);
        assert.deepEqual((await peer.get("/", basic("ann", "right"))).json, { name: "ann" });
        assert.equal((await peer.get("/", basic("ann", "wrong"))).status, 401);
        assert.equal((await peer.get("/", { authorization: "Basic" })).status, 400);
    });

    it("Digest: the challenge", async ({ listen }) => {
        const authenticator = new passport.Passport().use(new DigestStrategy({ realm: "here", qop: "auth" }, (name, done) => done(null, { name }, "right")));
        const peer = await listen(express().get("/", authenticator.authenticate("digest", { session: false }), (request, response) => response.json(request.user)), { changing: ["www-authenticate"] });
        const refused = await peer.get("/");
        assert.match(refused.headers["www-authenticate"], /^Digest realm="here", nonce="[^"]+", qop="auth"$/);
    });

    it("bearer tokens", async ({ listen }) => {
        const authenticator = new passport.Passport().use(new JwtStrategy({ jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(), secretOrKey: "secret" }, (payload, done) => done(null, payload.sub === "ann" && { name: payload.sub })));
        const peer = await listen(express().get("/", authenticator.authenticate("jwt", { session: false }), (request, response) => response.json(request.user)));
        const bearer = (sub, secret) => ({ authorization: `Bearer ${jsonwebtoken.sign({ sub }, secret)}` });
        assert.deepEqual((await peer.get("/", bearer("ann", "secret"))).json, { name: "ann" });
        for (const headers of [{}, bearer("ann", "other"), bearer("bob", "secret")]) assert.equal((await peer.get("/", headers)).status, 401);
    });
});

middleware(["express-jwt", "express-unless"], ({ express, it }) => {
    it("tokens, their errors, and paths that need none", async ({ listen }) => {
        const app = express().use(expressjwt({ secret: "secret", algorithms: ["HS256"] }).unless({ path: ["/open", /^\/public\//] }));
        app.get("/open", (request, response) => response.json("open"));
        app.get("/public/x", (request, response) => response.json("public"));
        app.get("/closed", (request, response) => response.json(request.auth.sub));
        app.use((error, request, response, next) => response.status(error.status).json([error.name, error.code]));
        const peer = await listen(app);
        assert.deepEqual([(await peer.get("/open?q")).json, (await peer.get("/public/x")).json], ["open", "public"]);
        assert.equal((await peer.get("/closed", { authorization: `Bearer ${jsonwebtoken.sign({ sub: "ann" }, "secret")}` })).json, "ann");
        const missing = await peer.get("/closed");
        assert.deepEqual([missing.status, missing.json], [401, ["UnauthorizedError", "credentials_required"]]);
        assert.deepEqual((await peer.get("/closed", { authorization: "Bearer x.y.z" })).json, ["UnauthorizedError", "invalid_token"]);
    });

    it("unless on a middleware of our own, by method and path below a router", async ({ listen }) => {
        const marks = (request, response, next) => {
            request.marked = true;
            next();
        };
        marks.unless = unless;
        const router = express.Router().use(marks.unless({ path: ["/api/free"], method: ["DELETE"] })).all(/.*/, (request, response) => response.json(request.marked === true));
        const peer = await listen(express().use("/api", router));
        assert.deepEqual([(await peer.get("/api/free")).json, (await peer.get("/api/other")).json, (await peer.request("DELETE", "/api/other")).json], [false, true, false]);
    });
});

middleware("express-basic-auth", ({ express, it }) => {
    it("users, a challenge, and an authorizer that takes its time", async ({ listen }) => {
        const app = express();
        app.get("/static", basicAuth({ users: { ann: "right" }, challenge: true, realm: "here", unauthorizedResponse: (request) => ({ who: request.auth?.user ?? null }) }), (request, response) => response.json(request.auth));
        app.get("/async", basicAuth({ authorizeAsync: true, authorizer: (name, password, done) => setImmediate(done, null, basicAuth.safeCompare(password, "late")) }), (request, response) => response.json(request.auth.user));
        const peer = await listen(app);
        assert.deepEqual((await peer.get("/static", basic("ann", "right"))).json, { user: "ann", password: "right" });
        const refused = await peer.get("/static", basic("ann", "wrong"));
        assert.deepEqual([refused.status, refused.headers["www-authenticate"], refused.json], [401, 'Basic realm="here"', { who: "ann" }]);
        assert.deepEqual([(await peer.get("/async", basic("bob", "late"))).json, (await peer.get("/async")).status], ["bob", 401]);
    });
});

middleware("express-bearer-token", ({ express, it }) => {
    it("the token of field, query or body, and 400 for two", async ({ listen }) => {
        const app = express().use(express.urlencoded({ extended: false }), bearerToken()).all("/", (request, response) => response.json(request.token ?? null));
        const peer = await listen(app);
        const bearer = { authorization: "Bearer field" };
        assert.deepEqual([(await peer.get("/", bearer)).json, (await peer.get("/?access_token=query")).json, (await peer.request("POST", "/", { headers: FORM, body: "access_token=body" })).json, (await peer.get("/")).json], ["field", "query", "body", null]);
        assert.equal((await peer.get("/?access_token=query", bearer)).status, 400);
    });
});
