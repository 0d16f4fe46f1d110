// The server of timers.test.mjs: an interval ticks, and /report says how late it was while requests came.
import { http } from "../subject.mjs";
import { hold } from "./turns.mjs";

const INTERVAL_MS = 10;
const gaps = [];
let last;

const server = http.createServer((req, res) => {
    if (req.url === "/start") {
        gaps.length = 0;
        last = performance.now();
        return res.end("started");
    }
    if (req.url === "/report") return res.end(JSON.stringify({ gaps }));
    // Enough work that this thread, and not the load's, is the one without rest.
    hold(0.1);
    return res.end(req.url.slice(1));
});
setInterval(() => {
    const now = performance.now();
    if (last !== undefined) gaps.push(now - last);
    last = now;
}, INTERVAL_MS);
server.listen(0, "127.0.0.1", () => console.log(`port ${server.address().port}`));
