// What a request tells of where it came from, under every form of "trust proxy".
import { attempt, built, logged, shows } from "../built.mjs";

const select = (req) => ({ ip: req.ip, ips: req.ips, protocol: req.protocol, secure: req.secure, host: req.host, hostname: req.hostname, subdomains: req.subdomains });

const get = (headers) => ({ path: "/", headers });
const FORWARDED = [
    get({}),
    get({ "X-Forwarded-For": "10.0.0.1" }),
    get({ "X-Forwarded-For": "client, 10.0.0.2, 10.0.0.1" }),
    get({ "X-Forwarded-For": "1.2.3.4,5.6.7.8,  127.0.0.1" }),
    get({ "X-Forwarded-For": "" }),
    get({ "X-Forwarded-For": ["1.2.3.4", "5.6.7.8"] }),
    get({ "X-Forwarded-For": "::1, fe80::1, ::ffff:10.0.0.1" }),
    get({ "X-Forwarded-Proto": "https" }),
    get({ "X-Forwarded-Proto": "https, http" }),
    get({ "X-Forwarded-Proto": " https , http" }),
    get({ "X-Forwarded-Proto": "wss" }),
    get({ "X-Forwarded-Proto": "" }),
    get({ "X-Forwarded-Host": "a.b.example.com" }),
    get({ "X-Forwarded-Host": "a.example.com:8080, other.example.com" }),
    get({ "X-Forwarded-Host": "[::1]:8080" }),
    get({ "X-Forwarded-Host": "" }),
    get({ "X-Forwarded-For": "9.9.9.9", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "shop.example.org" }),
    get({ Forwarded: "for=1.2.3.4;proto=https" }),
];

const trusting = (name, value, more = {}) => shows(`trust proxy: ${name}`, select, FORWARDED, { setup: (app) => app.set("trust proxy", value), ...more });

export default [
    shows("trust proxy: left as it is", select, FORWARDED),
    trusting("false", false),
    trusting("true", true),
    trusting("0 hops", 0),
    trusting("1 hop", 1),
    trusting("2 hops", 2),
    trusting("a hundred hops", 100),
    trusting("loopback", "loopback"),
    trusting("loopback and another", "loopback, 10.0.0.1"),
    trusting("a list", ["loopback", "10.0.0.0/8"]),
    trusting("uniquelocal alone, which does not have the client", "uniquelocal"),
    trusting("a net mask", "127.0.0.0/255.0.0.0"),
    trusting("linklocal and loopback", "linklocal,loopback"),
    trusting("an IPv6 range", ["loopback", "fe80::/10"]),
    trusting("a function", (address, hop) => address === "127.0.0.1" || hop < 1),
    trusting("a function that trusts all", () => true),
    trusting("a function that trusts nobody", () => false),
    shows("trust proxy: a function that throws", select, [get({ "X-Forwarded-For": "1.2.3.4" }), get({})], { setup: (app) => app.set("trust proxy", (address) => {
        throw Object.assign(new Error(`not ${address.slice(0, 3)}`), { status: 403 });
    }) }),
    shows("trust proxy: a function's arguments", (req) => [req.ips, req.app.get("seen")], [get({ "X-Forwarded-For": "1.1.1.1, 2.2.2.2" })], { setup: (app) => {
        app.set("seen", []);
        app.set("trust proxy", (address, hop) => {
            app.get("seen").push([address, hop]);
            return true;
        });
    } }),
    logged("trust proxy: what is refused", (app, t) => {
        for (const value of ["nonsense", "1.2.3", "1.2.3.4/33", "1.2.3.4/", "1.2.3.4/255.0.255.0", "::1/129", "::1/255.0.0.0", "loopback, nonsense", ["loopback", 5], { a: 1 }, "true", "1"]) {
            attempt(t, JSON.stringify(value), () => app.set("trust proxy", value) === app);
            t.log(JSON.stringify(app.get("trust proxy")), typeof app.get("trust proxy fn"));
        }
    }),
    built("trust proxy: changed while serving", (app) => {
        app.get("/on", (req, res) => (app.enable("trust proxy"), res.json(select(req))));
        app.get("/off", (req, res) => (app.disable("trust proxy"), res.json(select(req))));
    }, ["/on", "/on", "/off", "/on"].map((path) => ({ path, headers: { "X-Forwarded-For": "1.2.3.4", "X-Forwarded-Proto": "https" } }))),
    built("trust proxy: of a mounted app", (app, t, express) => {
        const sub = express();
        app.enable("trust proxy");
        sub.get("/", (req, res) => res.json(select(req)));
        app.use("/sub", sub);
    }, [{ path: "/sub", headers: { "X-Forwarded-For": "1.2.3.4" } }]),
    built("trust proxy: a mounted app's own", (app, t, express) => {
        const sub = express();
        sub.set("trust proxy", "loopback");
        sub.get("/", (req, res) => res.json(select(req)));
        app.use("/sub", sub);
        app.get("/", (req, res) => res.json(select(req)));
    }, [{ path: "/sub", headers: { "X-Forwarded-For": "1.2.3.4" } }, { path: "/", headers: { "X-Forwarded-For": "1.2.3.4" } }]),
    shows("host and hostname", (req) => [req.host, req.hostname], ["test", "test:80", "TEST:8080", "[::1]", "[::1]:80", "1.2.3.4:5", "a.b.c.", "", "a b".replace(" ", "_"), "xn--caf-dma.example"].map((host) => get({ Host: host }))),
    shows("host and hostname without a Host", (req) => [req.host, req.hostname, req.subdomains], [{ path: "/", http: "1.0", headers: { Host: null } }]),
    shows("subdomains", (req) => req.subdomains, ["example.com", "a.example.com", "a.b.c.example.com", "localhost", "127.0.0.1", "[::1]:80", "a.example.com:80", "a..example.com", ".example.com"].map((host) => get({ Host: host }))),
    ...[0, 1, 3, 10].map((offset) => shows(`subdomain offset ${offset}`, (req) => req.subdomains, ["a.b.c.example.com", "example.com", "127.0.0.1"].map((host) => get({ Host: host })), { setup: (app) => app.set("subdomain offset", offset) })),
    shows("protocol and secure of a plain connection", (req) => [req.protocol, req.secure, req.socket.encrypted], [get({}), get({ "X-Forwarded-Proto": "https" })]),
    shows("ip of the socket", (req) => [req.ip, req.ip === req.socket.remoteAddress, req.ips], [get({})]),
    built("assigning what is computed", (app, t) => {
        app.use((req, res) => {
            for (const name of ["ip", "ips", "protocol", "secure", "host", "hostname", "subdomains", "path", "xhr", "fresh", "stale"]) {
                attempt(t, name, () => {
                    "use strict";
                    req[name] = "mine";
                    return String(req[name]);
                });
            }
            res.end();
        });
    }),
    built("defining what is computed", (app, t) => {
        app.use((req, res) => {
            for (const name of ["ip", "protocol", "hostname", "path", "query"]) {
                Object.defineProperty(req, name, { value: "mine", configurable: true });
                t.log(name, String(req[name]), req.secure);
            }
            res.end();
        });
    }),
];
