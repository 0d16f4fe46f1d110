// Asks so many times and ends: `node many.mjs PORT PATH CONNECTIONS REQUESTS [JSON [FIELDS]]`, FIELDS as JSON too. A closed loop of pipelined requests on
// connections that stay; with a text they are POSTs of JSON. Every reply must be a 200 whose body is as long as the first's. Prints `{ "requests" }`.
import { connect } from 'node:net';

const PIPELINED = 8;
const ANSWERS_MS_MAX = 1_200_000;
const OK = Buffer.from('HTTP/1.1 200 ');
const HEAD_END = Buffer.from('\r\n\r\n');

const [port, path, connections, requests, json = '', fields = '{}'] = process.argv.slice(2);
const more = Object.entries(JSON.parse(fields)).map(([name, value]) => `${name}: ${value}\r\n`).join('');
const head = json === '' ? `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`
  : `POST ${path} HTTP/1.1\r\nHost: a\r\n${more}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
const late = setTimeout(() => { throw new Error(`not answered within ${ANSWERS_MS_MAX / 1000} s`); }, ANSWERS_MS_MAX);
const share = Math.ceil(Number(requests) / Number(connections));
await Promise.all(Array.from({ length: Number(connections) }, () => askOn(share)));
clearTimeout(late);
console.log(JSON.stringify({ requests: share * Number(connections) }));

function askOn(times) {
  return new Promise((done, failed) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
    let [sent, answered, body, rest] = [0, 0, -1, Buffer.alloc(0)];
    const ask = (count) => {
      const now = Math.min(count, times - sent);
      sent += now;
      if (now > 0) socket.write(head.repeat(now));
    };
    socket.on('error', failed).on('close', () => (answered === times ? done() : failed(new Error(`closed after ${answered} replies`))));
    // One by itself, whose body is as long as those of all others. Heads differ: what remains of a limit is in them.
    socket.on('connect', () => ask(1));
    socket.on('data', (bytes) => {
      const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      let at = 0;
      for (let end = all.indexOf(HEAD_END); end >= 0; end = all.indexOf(HEAD_END, at)) {
        if (all.compare(OK, 0, OK.length, at, at + OK.length) !== 0) return failed(new Error(`not a 200: ${all.latin1Slice(at, end)}`));
        if (body < 0) body = Number(/content-length: (\d+)/i.exec(all.latin1Slice(at, end))?.[1] ?? 0);
        const next = end + HEAD_END.length + body;
        if (next > all.length) break;
        at = next;
        answered += 1;
      }
      rest = all.subarray(at);
      if (answered === times) socket.end();
      else if (sent - answered < PIPELINED) ask(PIPELINED);
    });
  });
}
