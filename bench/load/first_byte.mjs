// Times the first byte of a body: `node first_byte.mjs PORT ORIGIN_PORT PATH TIMES`. Requests take turns between the two, one at a time,
// each on a connection that stays; a body is read to its end before the next. Prints medians in µs and what the first adds.
import { connect } from 'node:net';
import { median } from '../engine/statistics.mjs';

const ANSWER_MS_MAX = 10_000;

const [port, originPort, path, times] = process.argv.slice(2);
const sides = { through: await open(Number(port)), origin: await open(Number(originPort)) };
const first = { through: [], origin: [] };
for (let turn = 0; turn < Number(times); turn += 1) {
  for (const [name, ask] of Object.entries(sides)) first[name].push(await ask());
}
const [through, origin] = [median(first.through), median(first.origin)];
console.log(JSON.stringify({ first_byte_us: through, origin_first_byte_us: origin, added_us: through - origin, errors: 0 }));
process.exit();

/** A connection; what it returns asks once, and says after how many µs the first byte of the body was there. */
function open(to) {
  const socket = connect({ port: to, host: '127.0.0.1', noDelay: true });
  const head = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const ask = () => new Promise((done, failed) => {
    const late = setTimeout(() => failed(new Error(`no answer within ${ANSWER_MS_MAX / 1000} s`)), ANSWER_MS_MAX);
    const begin = process.hrtime.bigint();
    let [text, left, took] = ['', -1, 0];
    const onData = (bytes) => {
      let body = bytes.length;
      if (left < 0) {
        text += bytes.toString('latin1');
        const end = text.indexOf('\r\n\r\n');
        if (end < 0) return;
        left = Number(/^content-length: (\d+)/im.exec(text)?.[1]);
        body = text.length - end - 4;
      }
      if (took === 0 && body > 0) took = Number(process.hrtime.bigint() - begin) / 1000;
      left -= body;
      if (left > 0) return;
      clearTimeout(late);
      socket.off('data', onData);
      if (left < 0 || !text.startsWith('HTTP/1.1 200 ')) failed(new Error(`not the answer that was asked for: ${text.slice(0, 200)}`));
      else done(took);
    };
    socket.on('data', onData);
    socket.write(head);
  });
  return new Promise((done, failed) => socket.on('error', failed).on('connect', () => done(ask)));
}
