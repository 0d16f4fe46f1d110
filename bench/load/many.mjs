// Asks so many times and ends: `node many.mjs PORT PATH CONNECTIONS REQUESTS [JSON [FIELDS]]`, FIELDS as JSON too. A closed loop of pipelined requests on
// connections that stay; with a text they are POSTs of JSON. Every reply must be a 200 as long as the first. Prints `{ "requests" }`.
import { connect } from 'node:net';

const PIPELINED = 8;
const ANSWERS_MS_MAX = 600_000;

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
    let [sent, answered, length, have] = [0, 0, 0, 0];
    const ask = (count) => {
      const now = Math.min(count, times - sent);
      sent += now;
      if (now > 0) socket.write(head.repeat(now));
    };
    socket.on('error', failed).on('close', () => (answered === times ? done() : failed(new Error(`closed after ${answered} replies`))));
    // One by itself, whose length is that of all others.
    socket.on('connect', () => ask(1));
    socket.on('data', (bytes) => {
      if (length === 0) {
        const text = bytes.toString('latin1');
        if (!text.startsWith('HTTP/1.1 200 ')) failed(new Error(`not a 200: ${text}`));
        length = text.indexOf('\r\n\r\n') + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      }
      have += bytes.length;
      const whole = Math.floor(have / length);
      have -= whole * length;
      answered += whole;
      if (answered === times) socket.end();
      else if (sent - answered < PIPELINED) ask(PIPELINED);
    });
  });
}
