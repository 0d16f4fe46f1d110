// One call of the echo service by Node's own clients: does the answer say what was sent, in the protocol's own form?

import http from 'node:http';
import http2 from 'node:http2';
import { isDeepStrictEqual } from 'node:util';
import { note, PATH, protocols } from '../rpc/note.mjs';

/** Whether the answer is right; throws what is wrong with it, `wrong` set, or why nobody answered. */
export async function askRpc(port, { protocol, rpc, bytes }) {
  const { headers, body } = protocols[rpc];
  const sent = body(bytes);
  const { status, trailers, got } = await (protocol === 'h1' ? overH1 : overH2)(port, headers, sent);
  const problem = wrongWith(rpc, sent, status, trailers, got, bytes);
  if (problem) throw Object.assign(new Error(`answered ${problem}`), { wrong: true });
}

function wrongWith(rpc, sent, status, trailers, got, bytes) {
  if (status !== 200) return `${status}: ${got.toString().slice(0, 300)}`;
  if (rpc === 'connect-json') return isDeepStrictEqual(JSON.parse(got.toString()), note(bytes)) ? undefined : `another note: ${got.toString().slice(0, 300)}`;
  if (!got.subarray(0, sent.length).equals(sent)) return `another note, of ${got.length} bytes`;
  if (rpc === 'grpc') return trailers['grpc-status'] === '0' ? undefined : `with grpc-status ${trailers['grpc-status']}`;
  if (rpc === 'grpc-web') return /grpc-status: ?0/i.test(got.subarray(sent.length).toString('latin1')) ? undefined : 'without its trailers';
  return got.length === sent.length ? undefined : `${got.length} bytes`;
}

function overH1(port, headers, body) {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, host: '127.0.0.1', path: PATH, method: 'POST', headers: { ...headers, 'content-length': body.length }, agent: false }, (response) => {
      const pieces = [];
      response.on('data', (piece) => pieces.push(piece));
      response.on('end', () => resolve({ status: response.statusCode, trailers: response.trailers, got: Buffer.concat(pieces) }));
      response.on('error', reject);
    });
    request.on('error', reject).end(body);
  });
}

function overH2(port, headers, body) {
  return new Promise((resolve, reject) => {
    const session = http2.connect(`http://127.0.0.1:${port}`);
    session.on('error', reject);
    const stream = session.request({ ':path': PATH, ':method': 'POST', ...headers });
    const pieces = [];
    let status;
    let trailers = {};
    stream.on('response', (head) => { status = head[':status']; trailers = head; });
    stream.on('trailers', (fields) => { trailers = fields; });
    stream.on('data', (piece) => pieces.push(piece));
    stream.on('end', () => { session.close(); resolve({ status, trailers, got: Buffer.concat(pieces) }); });
    stream.on('error', reject);
    stream.end(body);
  });
}
