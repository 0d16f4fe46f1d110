// One client that asks one request after the other, for what is counted and not timed.
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const ANSWER_MS_MAX = 600_000;
const RETRY_MS = 100;

/** A connection to `port` on loopback, once something listens there. */
export async function open(port, until) {
  while (Date.now() < until) {
    const socket = await new Promise((done) => {
      const attempt = connect({ port, host: '127.0.0.1', noDelay: true });
      attempt.once('connect', () => done(attempt)).once('error', () => done(undefined));
    });
    if (socket !== undefined) return socket;
    await pause(RETRY_MS);
  }
  throw new Error(`nothing listens on ${port}`);
}

/** A GET of `path`, as it is sent. */
export const get = (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

/** Sends a request, head and body in one piece, one after the other. Every reply is as long as the first. */
export function ask(socket, request, times) {
  return new Promise((done, failed) => {
    const late = setTimeout(() => failed(new Error('no answer')), ANSWER_MS_MAX);
    let [left, length, have] = [times, 0, 0];
    socket.on('error', failed).on('close', () => failed(new Error('the connection was closed')));
    socket.on('data', (bytes) => {
      if (length === 0) {
        const head = bytes.indexOf('\r\n\r\n');
        if (!bytes.subarray(0, 15).toString('latin1').startsWith('HTTP/1.1 200')) return failed(new Error(`not a 200: ${bytes}`));
        length = head + 4 + Number(/content-length: (\d+)/i.exec(bytes.toString('latin1'))?.[1] ?? 0);
      }
      have += bytes.length;
      if (have < length) return;
      have -= length;
      left -= 1;
      if (left > 0) {
        socket.write(request);
        return;
      }
      clearTimeout(late);
      socket.removeAllListeners('close');
      done();
    });
    socket.write(request);
  });
}
