// One request by Node's own clients: is the subject up, and does it answer what the scenario expects?

import http from 'node:http';
import http2 from 'node:http2';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { askRpc } from './ask_rpc.mjs';

const READY_PATIENCE_MS = 10_000;

/** Waits until the process answers, and checks that it answers what every other subject does. `body` is a number of bytes, `json` a text. */
export async function ready(process, { port, path, body, json, headers, expect, patience_ms = READY_PATIENCE_MS, ...more }) {
  const ask = expect.protocol === 'h2' ? askH2 : askH1;
  const begin = Date.now();
  for (;;) {
    if (process.child.exitCode !== null) throw new Error(`ended before it answered: ${process.output.stderr.trim().slice(-1000) || `exit ${process.child.exitCode}`}`);
    try {
      if (expect.rpc) return await askRpc(port, more);
      const { status, bytes } = await ask(port, path, json ?? (body && Buffer.alloc(body, 'x')), { ...headers?.(), ...(json && { 'content-type': 'application/json' }) });
      if (status !== 200 || (!expect.get && bytes !== expect.bytes)) {
        throw Object.assign(new Error(`answered ${status} with ${bytes} bytes where 200 with ${expect.bytes} is expected`), { wrong: true });
      }
      return;
    } catch (error) {
      if (error.wrong || Date.now() - begin > patience_ms) throw error;
      await pause(10);
    }
  }
}

/** Waits until somebody accepts connections there. */
export async function listening(process, port) {
  const begin = Date.now();
  while (!await accepts(port)) {
    if (process.child.exitCode !== null || Date.now() - begin > READY_PATIENCE_MS) throw new Error(`does not listen: ${process.output.stderr.trim().slice(-1000)}`);
    await pause(10);
  }
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => { socket.destroy(); resolve(true); });
    socket.on('error', () => resolve(false));
  });
}

function askH1(port, path, body, more) {
  return new Promise((resolve, reject) => {
    const headers = { ...more, ...(body && { 'content-length': body.length }) };
    const request = http.request({ port, host: '127.0.0.1', path, method: body ? 'POST' : 'GET', headers, agent: false }, (response) => {
      let bytes = 0;
      response.on('data', (chunk) => { bytes += chunk.length; });
      response.on('end', () => resolve({ status: response.statusCode, bytes }));
      response.on('error', reject);
    });
    request.on('error', reject).end(body);
  });
}

function askH2(port, path, body, more) {
  return new Promise((resolve, reject) => {
    const session = http2.connect(`http://127.0.0.1:${port}`);
    session.on('error', reject);
    const stream = session.request({ ...more, ':path': path });
    let status;
    let bytes = 0;
    stream.on('response', (headers) => { status = headers[':status']; });
    stream.on('data', (chunk) => { bytes += chunk.length; });
    stream.on('end', () => { session.close(); resolve({ status, bytes }); });
    stream.on('error', reject);
  });
}
