// The variants of the transport's scenarios do the same work: what they send is alike to the byte.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { transportScenarios } from '../transport_scenarios.mjs';
import { transportSubjects } from '../transport_subjects.mjs';

const built = existsSync(fileURLToPath(new URL('../../packages/leat/dist/transport/index.js', import.meta.url)));
const skip = built ? false : 'packages/leat is not built (make build)';
const REPLY = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** Bytes of one request, with its fields in one order and the port taken out. */
async function wire(t, client, name, settings) {
  const server = createServer((socket) => {
    let text = '';
    socket.setEncoding('latin1').on('error', () => {}).on('data', (piece) => {
      text += piece;
      const end = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (end === -1 || text.length < end + 4 + length) return;
      server.emit('request bytes', text);
      socket.end(REPLY);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address();
  const { call, close } = client(name, { ...settings, origin: `http://127.0.0.1:${port}` });
  const [sent] = await Promise.all([once(server, 'request bytes'), call()]);
  await close();
  const [head, body] = sent[0].split(/\r\n\r\n([\s\S]*)/);
  const [line, ...fields] = head.replaceAll(String(port), 'PORT').split('\r\n');
  // What HTTP/1.1 means anyhow: undici says it, Leat's own connection does not.
  const own = fields.map((field) => field.toLowerCase()).filter((field) => field !== 'connection: keep-alive');
  return { line, fields: own.sort(), body };
}

for (const bytes of [0, 1024, 65_536]) {
  test(`clients on loopback send the same bytes, with a body of ${bytes}`, { skip }, async (t) => {
    const { client, names } = await import('../transport/loopback.mjs');
    const [first, ...others] = await Promise.all(names.map((name) => wire(t, client, name, { connections: 1, bytes })));
    assert.equal(first.body.length, bytes);
    for (const other of others) assert.deepEqual(other, first);
  });
}

for (const bytes of [9, 1024, 65_536]) {
  test(`five middleware on loopback send what the same work inline sends: ${bytes} bytes`, { skip }, async (t) => {
    const { client } = await import('../transport/loaded.mjs');
    const [ours, inline] = await Promise.all(['leat, 5 middleware', 'leat, the same inline'].map((name) => wire(t, client, name, { connections: 1, bytes })));
    assert.ok(ours.fields.includes('x-origin: bench'));
    assert.equal(ours.fields.includes('content-encoding: gzip'), bytes >= 1024);
    assert.deepEqual(ours, inline);
  });
}

for (const [path, own] of [['sync', false], ['sync', true], ['async', false], ['error', false], ['retry', false]]) {
  test(`engines bring the same request to the sender: ${path}${own ? ", on headers of the call's own" : ''}`, { skip }, async () => {
    const { make, names } = await import('../transport/engine.mjs');
    for (const name of names) {
      const { run, seen } = make(name, { depth: 4, path, own });
      const { status } = await run();
      assert.equal(status, 200);
      assert.deepEqual({ ...seen.request.headers }, { host: 'a', accept: '*/*', 'user-agent': 'leat', 'accept-encoding': 'gzip', 'x-0': '1', 'x-1': '1', 'x-2': '1', 'x-3': '1' }, name);
    }
  });
}

test('merging comes to the same headers', { skip }, async () => {
  const { make, names } = await import('../transport/merge.mjs');
  for (const patch of ['nothing', 'same header', 'header']) {
    const [first, ...others] = names.map((name) => make(name, { patch }).run().headers);
    for (const other of others) assert.deepEqual(other, first, patch);
  }
});

for (const bytes of [9, 1024, 65_536]) {
  test(`a stack of middleware sends what the same work inline sends: ${bytes} bytes`, { skip }, async () => {
    const { make } = await import('../transport/stack.mjs');
    const sent = async (name) => {
      const { run, seen } = make(name, { bytes });
      await run();
      const { method, path, headers, body } = seen.request;
      return { method, path, headers: { ...headers }, body: Buffer.from(body).toString('hex') };
    };
    assert.deepEqual(await sent('leat, 5 middleware'), await sent('leat, the same inline'));
  });
}

test('every scenario has its layer, and every variant is one of it', { skip }, async () => {
  for (const { name, role, subjects } of transportScenarios) {
    const { names } = await import(`../transport/${role.replace('transport-', '')}.mjs`);
    for (const subject of subjects) {
      const { command } = transportSubjects[subject].roles[role]({ node: 'node', flags: {}, upstreamPort: 1 });
      assert.ok(names.includes(command[3]), `${name}: ${subject}`);
    }
  }
});
