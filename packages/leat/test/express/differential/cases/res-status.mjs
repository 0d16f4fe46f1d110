// res.status, res.sendStatus, res.statusCode and res.statusMessage.
import { answers, get, head, shown } from "../shapes.mjs";

const status = (code, more) => answers(`status(${typeof code === "bigint" ? `${code}n` : (JSON.stringify(code) ?? String(code))})`, (req, res) => res.status(code).end("body"), [get()], more);
const sendStatus = (code, more) => answers(`sendStatus(${JSON.stringify(code) ?? String(code)})`, (req, res) => res.sendStatus(code), [get()], more);

export default [
    ...[200, 201, 299, 404, 418, 451, 500, 599, 600, 799, 999].map((code) => status(code)),
    ...[100, 101, 103, 199].map((code) => answers(`status(${code}) then send`, (req, res) => res.status(code).send("body"))),
    ...[99, 1000, 0, -1, 1e21].map((code) => status(code)),
    ...["200", "404", "abc", "", null, undefined, true, {}, [200]].map((code) => status(code)),
    ...[200.1, 404.5, NaN, Infinity].map((code) => answers(`status(${code})`, (req, res) => res.status(code).end("body"))),
    answers("status of a BigInt", (req, res) => res.status(200n).end("body")),
    answers("status of a Symbol", (req, res) => res.status(Symbol("x")).end("body")),
    answers("status returns the response", (req, res) => res.end(String(res.status(202) === res))),
    answers("status does not change the message", (req, res) => {
        res.statusMessage = "Mine";
        res.status(404).end();
    }),
    answers("a status message with every printable byte", (req, res) => {
        res.statusMessage = "A \t~é";
        res.status(200).send("x");
    }),
    answers("a status message with a line feed", (req, res) => {
        res.statusMessage = "A\nB";
        res.send("x");
    }),
    answers("an empty status message", (req, res) => {
        res.statusMessage = "";
        res.send("x");
    }),
    answers("statusCode set by hand to what is none", (req, res) => {
        res.statusCode = 5;
        res.send("x");
    }),
    answers("statusCode set by hand to text", (req, res) => {
        res.statusCode = "404";
        res.send("x");
    }),
    ...[200, 201, 204, 205, 304, 400, 404, 500, 599, 799, 999].map((code) => sendStatus(code)),
    ...["404", null, undefined, 0, 1000].map((code) => sendStatus(code)),
    answers("sendStatus keeps no earlier type", (req, res) => res.type("json").sendStatus(200)),
    answers("sendStatus to HEAD", (req, res) => res.sendStatus(404), [head()]),
    answers("sendStatus returns the response", (req, res, next, t) => t.log(String(res.sendStatus(200) === res))),
    answers("statusMessage after sendStatus", (req, res, next, t) => {
        res.sendStatus(404);
        t.log(`${res.statusCode} ${shown(res.statusMessage)}`);
    }),
    answers("status after the head was sent", (req, res) => {
        res.write("a");
        res.status(404);
        res.end("b");
    }),
];
