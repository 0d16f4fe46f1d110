// `req._parsedUrl`: what parseurl keeps there, made when it is read.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import test from "node:test";
import parseurl from "parseurl";

const { Router5, lazyParsedUrl } = createRequire(import.meta.url)("../../../dist/express/router/index.js");

class Request {
    constructor(url) {
        this.method = "GET";
        this.url = url;
    }
}
class LazyRequest extends Request {}
lazyParsedUrl(LazyRequest.prototype);

const URLS = ["/", "/a", "/a?b=c", "/a?b?c", "/?", "/a#b", "/a b?c", "*", "a", "?x", "http://host/a?b", "//x/y", "/é?é"];

/** What handlers read at each step of a way through nested routers. */
function steps(Kind, url) {
    const seen = [];
    const look = (req, res, next) => {
        seen.push({ ...req._parsedUrl });
        next?.();
    };
    const req = new Kind(url);
    Router5()
        .use(look)
        .use((req, res, next) => {
            req.url += req.url.includes("?") ? "&more" : "?more";
            next();
        })
        .use(look)
        .use("/a", look, Router5().use(look))
        .use(look)(req, {}, () => {});
    seen.push({ ...parseurl(req) }, req._parsedUrl === parseurl(req));
    return seen;
}

for (const url of URLS) {
    test(`${url} is parsed alike at once and when it is read`, () => {
        const wanted = steps(Request, url);
        assert.deepEqual(steps(LazyRequest, url), wanted);
        assert.deepEqual(wanted[0], { ...parseurl({ url }) });
    });
}

test("parseurl writes its own, and reads it again", () => {
    const req = new LazyRequest("/a?b");
    const parsed = parseurl(req);
    assert.equal(parsed.pathname, "/a");
    assert.equal(parseurl(req), parsed);
    req.url = "/c";
    assert.equal(parseurl(req).pathname, "/c");
});

test("two requests share nothing", () => {
    const [one, two] = [new LazyRequest("/one"), new LazyRequest("/two")];
    const router = Router5().use((req, res, next) => next());
    router(one, {}, () => {});
    router(two, {}, () => {});
    assert.equal(one._parsedUrl.pathname, "/one");
    assert.equal(two._parsedUrl.pathname, "/two");
    assert.equal(LazyRequest.prototype._parsedUrl, undefined);
});
