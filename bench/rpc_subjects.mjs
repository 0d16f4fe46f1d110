// Servers of the echo service, as data: `leat mock` with a rule that echoes, and what else people serve RPC with. Roles: `rpc` takes
// HTTP/2, `rpc-h1` HTTP/1.1; who serves both on one port is the same for both.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const tools = at('../target/tools/rpc');
const descriptors = `${tools}/echo.binpb`;

/** A file of rules is bounded; so many stay well below that. */
const RULES_IN_A_FILE = 50_000;

/** A rule that the note of the scenarios meets, and `count - 1` others that differ in a literal, as files. */
function rules(count) {
  const files = { 'rules/echo.yaml': 'rules:\n  - { name: echo, method: bench.v1.Echo/Say, match: { message: { name: bench } }, reply: { message: "{{ request }}" } }\n' };
  for (let first = 0; first < count - 1; first += RULES_IN_A_FILE) {
    const others = Array.from({ length: Math.min(RULES_IN_A_FILE, count - 1 - first) }, (_, number) =>
      `  - { name: other-${first + number}, method: bench.v1.Echo/Say, match: { message: { name: other-${first + number} } }, reply: { message: { text: "${number}" } } }\n`);
    files[`rules/others-${first}.yaml`] = `rules:\n${others.join('')}`;
  }
  return files;
}

const mock = (count) => ({ port, leat }) => ({
  files: rules(count),
  command: [leat, 'mock', '--proto', at('rpc/echo.proto'), '--rules', 'rules', '--listen', `127.0.0.1:${port}`, '--access-log', 'off'],
});

const leat = (count) => ({
  version: ({ leat: binary }) => [binary, 'version'],
  needs: { binary: 'leat', how: 'build it (`make build`) or name one with --leat PATH' },
  // Half a million rules take their time.
  patience_ms: 10_000 + count / 5,
  roles: { rpc: mock(count), 'rpc-h1': mock(count) },
});

/** The same rule in WireMock's words. */
const STUB = JSON.stringify({
  request: { urlPath: '/bench.v1.Echo/Say', method: 'POST', bodyPatterns: [{ matchesJsonPath: { expression: '$.name', equalTo: 'bench' } }] },
  response: { status: 200, body: '{{{request.body}}}', headers: { 'grpc-status-name': 'OK' }, transformers: ['response-template'] },
});

const native = ({ port, rival }) => ({ files: {}, command: [rival('native-echo'), '--listen', `127.0.0.1:${port}`, '--proto', at('rpc/echo.proto')] });
const program = (name) => ({ port, rival }) => ({ files: {}, command: [rival(name), '--listen', `127.0.0.1:${port}`] });

export const rpcSubjects = {
  'leat mock': leat(1),
  ...Object.fromEntries([10, 1000, 100_000, 500_000].map((count) => [`leat mock, ${count.toLocaleString('en')} rules`, leat(count)])),
  // The same server, asked in each protocol: `load` goes before the scenario's.
  ...Object.fromEntries(Object.entries({
    gRPC: { rpc: 'grpc' },
    'Connect over HTTP/1.1': { rpc: 'connect', protocol: 'h1' },
    'Connect in JSON over HTTP/1.1': { rpc: 'connect-json', protocol: 'h1' },
    'Connect over HTTP/2': { rpc: 'connect' },
    'Connect in JSON over HTTP/2': { rpc: 'connect-json' },
    'gRPC-Web over HTTP/1.1': { rpc: 'grpc-web', protocol: 'h1' },
  }).map(([protocol, load]) => [`leat mock, ${protocol}`, { ...leat(1), load }])),
  'leat, native echo': { version: () => 'leat-rpc', roles: { rpc: native, 'rpc-h1': native } },
  'leat, shared handler': { version: () => 'leat-rpc', roles: { 'rpc-handler': ({ rival }) => ({ files: {}, command: [rival('handler-cost'), at('rpc/checked.proto')] }) } },
  'grpc-go': {
    version: () => 'google.golang.org/grpc 1.85.0',
    roles: { rpc: ({ port }) => ({ files: {}, command: [`${tools}/rival-grpc-go`, '--listen', `127.0.0.1:${port}`] }) },
    absent: () => (existsSync(`${tools}/rival-grpc-go`) ? undefined : 'it is not built (tools/install.sh bench)'),
  },
  tonic: { version: () => 'tonic', roles: { rpc: program('rival-tonic') } },
  'connect-rust': { version: () => 'connectrpc', roles: { rpc: program('rival-connect-rust'), 'rpc-h1': program('rival-connect-rust') } },
  // It has ten seconds to compile itself: Java's code is slow before.
  WireMock: {
    version: () => 'wiremock 3.13.1, its gRPC extension 0.11.0',
    needs: { tool: 'java', debian: 'default-jre-headless' },
    absent: () => (existsSync(`${tools}/wiremock`) ? undefined : 'its libraries are not there (tools/install.sh bench)'),
    warmup: 10,
    roles: {
      rpc: ({ port }) => ({
        files: { 'grpc/echo.dsc': readFileSync(descriptors), 'mappings/echo.json': STUB },
        command: ['java', '-cp', `${tools}/wiremock/*`, 'wiremock.Run', '--bind-address', '127.0.0.1', '--port', String(port), '--no-request-journal', '--disable-banner'],
      }),
    },
  },
  'grpc-js': {
    version: () => ['node', '--version'],
    needs: { tool: 'node', debian: 'nodejs', package: '@grpc/grpc-js' },
    roles: { rpc: ({ port }) => ({ files: {}, command: ['node', at('rpc/grpc_js.mjs'), String(port)], env: { NODE_ENV: 'production' } }) },
  },
  'connect-node': {
    version: () => ['node', '--version'],
    needs: { tool: 'node', debian: 'nodejs', package: '@connectrpc/connect-node' },
    roles: Object.fromEntries([['rpc', []], ['rpc-h1', ['h1']]].map(([role, more]) => [role, ({ port }) => ({
      files: {}, command: ['node', at('rpc/connect_node.mjs'), String(port), descriptors, ...more], env: { NODE_ENV: 'production' },
    })])),
  },
};
