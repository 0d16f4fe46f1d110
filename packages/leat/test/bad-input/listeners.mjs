// Listeners of a server's events that throw, do nothing, or are missing. `listen` sets them up and notes what happens;
// `request` are the client's bytes, and what it reads and what reaches the process must be as on node:http.
// Run as a program it is the server of the case whose number is given; a message closes it.
import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { promisify } from "node:util";
import { http, openInEngine } from "../subject.mjs";
import { worded } from "./tried.mjs";

const TURNS_MAX = 500;

const boom = () => { throw new Error("boom"); };
const answer = (req, res) => res.end("ok");
const nothing = () => {};
/** An upgraded socket that nobody reads would stay open when its client has gone. */
const read = (then) => (req, socket) => {
    socket.on("end", () => socket.end()).resume();
    then();
};
const GET = "GET / HTTP/1.1\r\nhost: test\r\n\r\n";
const UPGRADE = "GET / HTTP/1.1\r\nhost: test\r\nconnection: upgrade\r\nupgrade: test\r\n\r\n";
const CONNECT = "CONNECT test:80 HTTP/1.1\r\nhost: test:80\r\n\r\n";
const CONTINUE = "POST / HTTP/1.1\r\nhost: test\r\nexpect: 100-continue\r\ncontent-length: 4\r\n\r\nbody";
const EXPECTATION = "GET / HTTP/1.1\r\nhost: test\r\nexpect: the-unexpected\r\n\r\n";
const MALFORMED = "GET / HTTP/1.1\r\nhost: test\r\nbad header\r\n\r\n";
const raw = (text) => (error, socket) => socket.end(`HTTP/1.1 400 ${text}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);

/** `next` is sent after the first reply. `ends`: the server ends the connection by itself; otherwise the client leaves once it has read `reads`, if anything. */
export const cases = [
    { name: "no listener for 'request'", listen: nothing, request: GET },
    { name: "'request' throws before another listener of it", listen: (server, say) => server.on("request", boom).on("request", () => say("second")), request: GET, uncaught: 1 },
    { name: "'connection' throws", listen: (server) => server.on("connection", boom).on("request", answer), request: GET, reads: /\r\n\r\nok$/, uncaught: 1 },
    { name: "'connection' destroys the socket", listen: (server, say) => server.on("connection", (socket) => socket.destroy()).on("request", () => say("request")), request: GET, ends: true },
    { name: "'upgrade' throws", listen: (server) => server.on("upgrade", read(boom)), request: UPGRADE, uncaught: 1 },
    { name: "'upgrade' does nothing", listen: (server) => server.on("upgrade", read(nothing)), request: UPGRADE },
    { name: "'upgrade' destroys the socket", listen: (server) => server.on("upgrade", (req, socket) => socket.destroy()), request: UPGRADE, ends: true },
    { name: "'upgrade' refuses", listen: (server) => server.on("upgrade", (req, socket) => socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")), request: UPGRADE, reads: /^HTTP\/1\.1 403/, ends: true },
    { name: "no listener for 'upgrade'", listen: (server) => server.on("request", answer), request: UPGRADE, reads: /\r\n\r\nok$/ },
    { name: "'connect' throws", listen: (server) => server.on("connect", read(boom)), request: CONNECT, uncaught: 1 },
    { name: "no listener for 'connect'", listen: (server, say) => server.on("request", () => say("request")), request: CONNECT, ends: true },
    { name: "'clientError' throws", listen: (server) => server.on("clientError", boom).on("request", answer), request: MALFORMED, uncaught: 1 },
    { name: "'clientError' does nothing", listen: (server, say) => server.on("clientError", (error) => say(error.code)).on("request", answer), request: MALFORMED },
    { name: "'clientError' answers", listen: (server) => server.on("clientError", raw("Own Words")).on("request", answer), request: MALFORMED, reads: /^HTTP\/1\.1 400 Own Words\r\n/, ends: true },
    { name: "'clientError' destroys", listen: (server) => server.on("clientError", (error, socket) => socket.destroy()).on("request", answer), request: MALFORMED, ends: true },
    { name: "no listener for 'clientError'", listen: (server, say) => server.on("request", () => say("request")), request: MALFORMED, reads: /^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/, ends: true },
    { name: "'checkContinue' throws", listen: (server) => server.on("checkContinue", boom), request: CONTINUE, uncaught: 1 },
    { name: "'checkContinue' does nothing", listen: (server, say) => server.on("checkContinue", () => say("checkContinue")).on("request", () => say("request")), request: CONTINUE },
    { name: "'checkContinue' refuses", listen: (server) => server.on("checkContinue", (req, res) => res.writeHead(417).end()), request: CONTINUE, reads: /^HTTP\/1\.1 417 / },
    { name: "'checkExpectation' throws", listen: (server) => server.on("checkExpectation", boom), request: EXPECTATION, uncaught: 1 },
    { name: "no listener for 'checkExpectation'", listen: (server, say) => server.on("request", () => say("request")), request: EXPECTATION, reads: /^HTTP\/1\.1 417 / },
    { name: "'timeout' throws", listen: (server) => server.setTimeout(50).on("timeout", boom), request: GET, uncaught: 1 },
    { name: "'timeout' of a request that is never answered", listen: (server) => server.setTimeout(50).on("request", nothing), request: GET, ends: true },
    { name: "'timeout' listened for leaves the socket", listen: (server, say) => server.setTimeout(50).on("timeout", (socket) => { say("timeout"); socket.end("bye"); }).on("request", nothing), request: GET, reads: /^bye$/, ends: true },
    { name: "'close' throws", listen: (server) => server.on("close", boom).on("request", answer), request: GET, reads: /\r\n\r\nok$/, uncaughtAtClose: 1 },
    { name: "the callback of close() throws", listen: (server) => { server.on("request", answer); server.atClose = boom; }, request: GET, reads: /\r\n\r\nok$/, uncaughtAtClose: 1 },
    { name: "half a request", listen: (server, say) => server.on("request", () => say("request")).on("clientError", (error, socket) => { say(`${error.code} ${socket.destroyed}`); socket.destroy(); }), request: GET.slice(0, -2) },
    { name: "nothing at all", listen: (server, say) => server.on("request", () => say("request")).on("clientError", (error) => say(error.code)), request: "" },
    { name: "a request, and half of another", listen: (server, say) => server.on("request", answer).on("clientError", (error, socket) => { say(error.code); socket.destroy(); }), request: `${GET}GET / HTT`, reads: /\r\n\r\nok$/ },
    { name: "a request, and after its reply a malformed one", listen: (server) => server.on("request", answer), request: GET, next: "GET / HTT\r\n\r\n", reads: /\r\n\r\nokHTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/, ends: true },
];

async function run(number) {
    const seen = [];
    const server = http.createServer();
    cases[number].listen(server, (line) => seen.push(line));
    server.listen(0, "127.0.0.1", () => process.send({ is: "port", port: server.address().port }));
    await once(process, "message");
    let open;
    for (let i = 0; i < TURNS_MAX; i += 1) {
        await turn();
        open = { connections: await promisify(server.getConnections.bind(server))(), ...openInEngine() };
        if (Object.values(open).every((count) => count === 0)) break;
    }
    process.send({ is: "seen", seen, open: Object.entries(open).filter(([, count]) => count !== 0) });
    // First of all listeners, since one of the others may throw.
    server.prependListener("close", () => setImmediate(() => process.disconnect()));
    server.close(server.atClose);
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
    process.on("uncaughtException", (error) => process.send({ is: "uncaught", error: worded(error) }));
    await run(Number(process.argv[2]));
}
