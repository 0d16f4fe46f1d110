// What adds to the head, or waits for it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { deferred } from "../../frameworks/deferred.mjs";
import { use } from "../subjects.mjs";
import { middleware } from "../suite.mjs";

const cors = await use("cors");
const helmet = await use("helmet");
const nocache = await use("nocache");
const responseTime = await use("response-time");
const onHeaders = await use("on-headers");
const onFinished = await use("on-finished");
const vhost = await use("vhost");
const i18next = await use("i18next");
const i18nextMiddleware = await use("i18next-http-middleware", { all: true });
const { I18n } = await use("i18n", { all: true });
const requestIp = await use("request-ip");
const useragent = await use("express-useragent", { all: true });

middleware("cors", ({ express, it }) => {
    const app = (options) => express().use(cors(options)).all("/", (request, response) => response.json({ method: request.method })).delete("/item", (request, response) => response.sendStatus(204));

    it("every origin", async ({ listen }) => {
        const peer = await listen(app());
        const reply = await peer.get("/", { origin: "https://a.example" });
        assert.deepEqual([reply.status, reply.headers["access-control-allow-origin"]], [200, "*"]);
    });

    it("a preflight is answered before the routes", async ({ listen }) => {
        const peer = await listen(app({ origin: ["https://a.example", /\.b\.example$/], credentials: true, maxAge: 600, exposedHeaders: ["x-one", "x-two"], methods: "GET,DELETE" }));
        const preflight = await peer.request("OPTIONS", "/item", { headers: { origin: "https://x.b.example", "access-control-request-method": "DELETE", "access-control-request-headers": "x-token" } });
        assert.deepEqual([preflight.status, preflight.headers["content-length"], preflight.headers["access-control-allow-origin"]], [204, "0", "https://x.b.example"]);
        assert.deepEqual([preflight.headers["access-control-allow-methods"], preflight.headers["access-control-allow-headers"], preflight.headers["access-control-max-age"]], ["GET,DELETE", "x-token", "600"]);
        const actual = await peer.get("/", { origin: "https://a.example" });
        assert.deepEqual([actual.headers["access-control-allow-credentials"], actual.headers["access-control-expose-headers"], actual.headers.vary], ["true", "x-one,x-two", "Origin"]);
        assert.equal((await peer.get("/", { origin: "https://c.example" })).headers["access-control-allow-origin"], undefined);
    });

    it("options by request, errors, and preflights that go on", async ({ listen }) => {
        const dynamic = app((request, done) => done(request.query.fail ? new Error("no such tenant") : null, { origin: request.query.origin, preflightContinue: true }));
        dynamic.use((error, request, response, next) => response.status(500).json(error.message));
        const peer = await listen(dynamic);
        assert.equal((await peer.get("/?origin=https://t.example", { origin: "https://t.example" })).headers["access-control-allow-origin"], "https://t.example");
        assert.deepEqual((await peer.request("OPTIONS", "/", { headers: { origin: "https://t.example" } })).json, { method: "OPTIONS" });
        assert.deepEqual((await peer.get("/?fail=1", { origin: "https://t.example" })).json, "no such tenant");
    });
});

middleware("helmet", ({ express, it }) => {
    it("its fields are there, X-Powered-By is not", async ({ listen }) => {
        const peer = await listen(express().use(helmet()).get("/", (request, response) => response.send("safe")));
        const { headers } = await peer.get("/");
        assert.match(headers["content-security-policy"], /^default-src 'self'/);
        assert.deepEqual([headers["x-frame-options"], headers["x-content-type-options"], headers["x-powered-by"]], ["SAMEORIGIN", "nosniff", undefined]);
        assert.equal((await peer.get("/none")).headers["strict-transport-security"] !== undefined, true);
    });

    it("a policy with a nonce of the request", async ({ listen }) => {
        const app = express();
        app.use((request, response, next) => {
            response.locals.nonce = request.query.nonce;
            next();
        });
        app.use(helmet({ contentSecurityPolicy: { directives: { scriptSrc: ["'self'", (request, response) => `'nonce-${response.locals.nonce}'`] } }, xFrameOptions: { action: "deny" }, strictTransportSecurity: false }));
        app.get("/", (request, response) => response.send(response.locals.nonce));
        const peer = await listen(app);
        const { headers } = await peer.get("/?nonce=abc");
        assert.match(headers["content-security-policy"], /script-src 'self' 'nonce-abc'/);
        assert.deepEqual([headers["x-frame-options"], headers["strict-transport-security"]], ["DENY", undefined]);
    });
});

middleware("nocache", ({ express, it }) => {
    it("forbids to keep the reply, with and without ETag", async ({ listen }) => {
        const app = express().use(nocache()).get("/", (request, response) => response.send("fresh")).disable("etag");
        const { headers } = await (await listen(app)).get("/");
        assert.deepEqual([headers["cache-control"], headers.expires, headers["surrogate-control"], headers.etag], ["no-store, no-cache, must-revalidate, proxy-revalidate", "0", "no-store", undefined]);
    });
});

middleware("response-time", ({ express, it }) => {
    it("a field, digits and suffix", async ({ listen }) => {
        const app = express().use(responseTime({ digits: 0, suffix: false })).get("/", (request, response) => setImmediate(() => response.json({})));
        const peer = await listen(app);
        assert.match((await peer.get("/")).headers["x-response-time"], /^\d+$/);
        assert.match((await peer.get("/none")).headers["x-response-time"], /^\d+$/);
    });

    it("a function that sees the whole time", async ({ listen }) => {
        const seen = [];
        const app = express().use(responseTime((request, response, ms) => seen.push([request.url, response.statusCode, ms >= 0]))).get("/", (request, response) => response.sendStatus(202));
        await (await listen(app)).get("/");
        assert.deepEqual(seen, [["/", 202, true]]);
    });
});

middleware("on-headers", ({ express, it }) => {
    it("listeners run last-in first-out, once, and can still change the head", async ({ listen }) => {
        const app = express();
        app.use((request, response, next) => {
            onHeaders(response, function () {
                this.setHeader("x-order", `${this.getHeader("x-order") ?? ""}first`);
            });
            onHeaders(response, () => response.setHeader("x-order", `${response.getHeader("x-order") ?? ""}second,`));
            next();
        });
        app.get("/send", (request, response) => response.send("sent"));
        app.get("/json", (request, response) => response.status(201).json({}));
        app.get("/end", (request, response) => response.end("ended"));
        app.get("/head", (request, response) => response.writeHead(202, "Fine", { "x-own": "1" }).end());
        app.get("/array", (request, response) => response.writeHead(202, ["x-own", "1", "x-two", "2"]).end());
        app.get("/stream", (request, response) => {
            response.write("a");
            response.end("b");
        });
        app.get("/status", (request, response) => response.sendStatus(404));
        app.get("/redirect", (request, response) => response.redirect("/send"));
        app.get("/flush", (request, response) => {
            response.flushHeaders();
            response.end("flushed");
        });
        const peer = await listen(app);
        for (const path of ["/send", "/json", "/end", "/head", "/array", "/stream", "/status", "/redirect", "/flush", "/none"]) assert.equal((await peer.get(path)).headers["x-order"], "second,first", path);
        assert.equal((await peer.get("/send", { "if-none-match": "*" })).headers["x-order"], "second,first");
        assert.equal((await peer.request("HEAD", "/send")).headers["x-order"], "second,first");
    });

    it("a listener can change the status", async ({ listen }) => {
        const app = express();
        app.use((request, response, next) => {
            onHeaders(response, () => {
                if (response.statusCode === 200) response.statusCode = 203;
                response.removeHeader("etag");
            });
            next();
        });
        app.get("/", (request, response) => response.json({ a: 1 }));
        const reply = await (await listen(app)).get("/");
        assert.deepEqual([reply.status, reply.headers.etag, reply.json], [203, undefined, { a: 1 }]);
    });
});

middleware("on-finished", ({ express, it }) => {
    it("sees the end of replies and requests", async ({ listen, note }) => {
        const seen = deferred();
        const app = express();
        app.use((request, response, next) => {
            const order = [];
            assert.equal(onFinished.isFinished(response), false);
            onFinished(request, (error) => order.push(["request", error]));
            onFinished(response, (error, message) => {
                order.push(["response", error, message === response, response.statusCode]);
                if (request.url === "/late") setImmediate(() => seen.resolve(order));
            });
            next();
        });
        app.post("/late", express.text({ type: "*/*" }), (request, response) => response.status(201).send(request.body));
        const peer = await listen(app);
        assert.equal((await peer.request("POST", "/late", { headers: { "content-type": "text/plain" }, body: "text" })).text, "text");
        const order = await seen.promise;
        assert.deepEqual(order, [["request", null], ["response", null, true, 201]]);
        note(order);
    });

    it("sees a client that leaves", async ({ listen }) => {
        const gone = deferred();
        const app = express().get("/", (request, response) => {
            onFinished(response, () => gone.resolve([response.writableFinished, onFinished.isFinished(response)]));
            response.write("begun");
        });
        const peer = await listen(app);
        const request = peer.open("GET", "/");
        request.end();
        const [response] = await once(request, "response");
        response.on("error", () => {});
        request.destroy();
        assert.deepEqual(await gone.promise, [false, true]);
    });
});

middleware("vhost", ({ express, it }) => {
    it("picks the app by host, with the parts of a wildcard", async ({ listen }) => {
        const api = express().get("/", (request, response) => response.json({ api: true, path: request.baseUrl, app: request.app === api }));
        const users = express().get("/", (request, response) => response.json({ user: request.vhost[0], count: request.vhost.length, host: request.vhost.hostname }));
        const app = express().use(vhost("api.example", api)).use(vhost("*.users.example", users)).use("/below", vhost(/^(\w+)\.below$/, api)).use((request, response) => response.json({ other: request.hostname, app: request.app === app }));
        const peer = await listen(app);
        assert.deepEqual((await peer.get("/", { host: "api.example:8080" })).json, { api: true, path: "", app: true });
        assert.deepEqual((await peer.get("/", { host: "ann.users.example" })).json, { user: "ann", count: 1, host: "ann.users.example" });
        assert.deepEqual((await peer.get("/below", { host: "x.below" })).json, { api: true, path: "/below", app: true });
        assert.deepEqual((await peer.get("/", { host: "none.example" })).json, { other: "none.example", app: true });
    });
});

middleware("express-useragent", ({ express, it }) => {
    it("request.useragent and response.locals", async ({ listen }) => {
        const { express: make } = useragent.express ? useragent : useragent.default;
        const app = express().use(make()).get("/", (request, response) => response.json([request.useragent.browser, request.useragent.isMobile, response.locals.useragent === request.useragent]));
        const peer = await listen(app);
        assert.deepEqual((await peer.get("/", { "user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1" })).json.slice(1, 2), [true]);
        assert.deepEqual((await peer.get("/", { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0" })).json[0], "Firefox");
    });
});

middleware("i18next-http-middleware", ({ express, it }) => {
    it("the language of the request, by query, cookie and field", async ({ listen }) => {
        const instance = i18next.createInstance().use(i18nextMiddleware.LanguageDetector);
        await instance.init({ fallbackLng: "en", preload: ["en", "de"], supportedLngs: ["en", "de"], showSupportNotice: false, resources: { en: { translation: { hello: "Hello {{name}}" } }, de: { translation: { hello: "Hallo {{name}}" } } } });
        const app = express().use(i18nextMiddleware.handle(instance)).get("/", (request, response) => response.json([request.t("hello", { name: "Ann" }), request.language, response.locals.language]));
        const peer = await listen(app);
        assert.deepEqual((await peer.get("/")).json, ["Hello Ann", "en", "en"]);
        const german = await peer.get("/", { "accept-language": "de,en;q=0.5" });
        assert.deepEqual([german.json, german.headers["content-language"]], [["Hallo Ann", "de", "de"], "de"]);
        assert.equal((await peer.get("/?lng=de")).json[0], "Hallo Ann");
        assert.equal((await peer.get("/", { cookie: "i18next=de" })).json[0], "Hallo Ann");
    });
});

middleware("i18n", ({ express, it }) => {
    it("response.__, locals and plurals, by the request's language", async ({ listen }) => {
        const i18n = new I18n({ locales: ["en", "de"], staticCatalog: { en: { hello: "Hello %s", cat: { one: "%s cat", other: "%s cats" } }, de: { hello: "Hallo %s", cat: { one: "%s Katze", other: "%s Katzen" } } }, defaultLocale: "en", queryParameter: "lang" });
        const app = express().use(i18n.init).get("/", (request, response) => response.json([response.__("hello", "Ann"), request.__n("cat", 3), response.locals.__("hello", "Bob"), request.getLocale()]));
        const peer = await listen(app);
        assert.deepEqual((await peer.get("/", { "accept-language": "de" })).json, ["Hallo Ann", "3 Katzen", "Hallo Bob", "de"]);
        assert.deepEqual((await peer.get("/?lang=en", { "accept-language": "de" })).json, ["Hello Ann", "3 cats", "Hello Bob", "en"]);
    });
});

middleware("request-ip", ({ express, it }) => {
    it("the client's address, also behind proxies", async ({ listen }) => {
        const app = express().use(requestIp.mw()).get("/", (request, response) => response.json(request.clientIp));
        const peer = await listen(app);
        assert.deepEqual([(await peer.get("/")).json, (await peer.get("/", { "x-forwarded-for": "10.1.2.3, 10.0.0.1" })).json, (await peer.get("/", { "cf-connecting-ip": "10.9.9.9" })).json], ["127.0.0.1", "10.1.2.3", "10.9.9.9"]);
    });
});
