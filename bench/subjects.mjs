// Who is measured, as data: one entry a subject. `roles` says how it is started for each role: files that are written
// into a fresh directory, and a command line that runs there. Every subject has one worker and no access log; proxies
// keep connections to the origin alive, stream bodies in both directions, and add X-Forwarded-For.
//
// A role is given: port, upstreamPort, redisPort, dir, flags (of the scenario), rival(name) = path of a program of bench/rivals,
// leat = path of the binary, descriptors = how many it may open, root = whether it runs as root.

import { fileURLToPath } from 'node:url';
import { expressSubjects } from './express_subjects.mjs';
import { gatewaySubjects } from './gateway_subjects.mjs';
import { nodeSubjects } from './node_subjects.mjs';
import { rpcSubjects } from './rpc_subjects.mjs';
import { runSubjects } from './run_subjects.mjs';
import { transportSubjects } from './transport_subjects.mjs';

const undiciProxy = fileURLToPath(new URL('rivals/node/proxy.mjs', import.meta.url));

/** As many connections as subjects are told to bear. */
const CONNECTIONS = 12_000;

const leat = (config) => ({ port, upstreamPort, leat: binary }) => ({
  files: { 'leat.yaml': `listeners: [{address: "127.0.0.1:${port}"}]
workers: 1
access_log: "off"
${config(upstreamPort)}
` },
  command: [binary, 'gateway', 'leat.yaml'],
});

const leatReply = leat(() => `routes:
  - match: {path: /plain}
    respond: {status: 200, headers: {content-type: text/plain}, body: "Hello, World!"}`);

const leatProxy = leat((upstreamPort) => `routes:
  - match: {prefix: /}
    proxy: {upstream: origin}
upstreams:
  origin: {endpoints: ["http://127.0.0.1:${upstreamPort}"]}`);

const nginx = (listen, location) => ({ port, upstreamPort, descriptors, root }) => ({
  files: { 'nginx.conf': `${root ? 'user root;\n' : ''}worker_processes 1;
daemon off;
pid nginx.pid;
error_log stderr crit;
worker_rlimit_nofile ${descriptors};
events { worker_connections ${Math.min(CONNECTIONS, descriptors)}; }
http {
  access_log off;
  default_type text/plain;
  tcp_nodelay on;
  keepalive_timeout 600s;
  keepalive_requests 1000000000;
  client_max_body_size 0;
  client_body_temp_path client; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  upstream origin { server 127.0.0.1:${upstreamPort}; keepalive 64; keepalive_requests 1000000000; keepalive_timeout 600s; }
  server {
    listen 127.0.0.1:${port}${listen} backlog=4096;
    location / { ${location} }
  }
}
` },
  command: ['nginx', '-e', 'stderr', '-p', '.', '-c', 'nginx.conf'],
});

// HAProxy wants descriptors for as many connections to the origin as from clients; without strict limits it only warns.
const haproxy = (frontend) => ({ port, upstreamPort, flags }) => ({
  files: { 'haproxy.cfg': `global
  nbthread 1
  maxconn ${CONNECTIONS}
  no strict-limits
${flags.large ? '  tune.bufsize 65536' : ''}
defaults
  mode http
  timeout connect 5s
  timeout client 600s
  timeout server 600s
  timeout http-keep-alive 600s
  option http-keep-alive
  http-reuse always
frontend in
  bind 127.0.0.1:${port} backlog 4096
  ${frontend}
backend origin
  option forwardfor
  server origin 127.0.0.1:${upstreamPort}
` },
  command: ['haproxy', '-db', '-f', 'haproxy.cfg'],
});

const node = ({ port, upstreamPort }) => ({
  files: {},
  command: ['node', undiciProxy, String(port), String(upstreamPort)],
  env: { NODE_ENV: 'production' },
});

export const subjects = {
  leat: {
    version: ({ leat: binary }) => [binary, 'version'],
    needs: { binary: 'leat', how: 'build it (`make build`) or name one with --leat PATH' },
    roles: {
      reply: leatReply,
      'reply-h2': leatReply,
      proxy: leatProxy,
      answer: leatReply,
    },
  },
  hyper: {
    version: () => 'hyper',
    roles: {
      reply: ({ port, flags, rival }) => ({
        files: {},
        command: [rival('rival-hyper'), '--listen', `127.0.0.1:${port}`, ...(flags.pipelined ? ['--pipeline-flush'] : [])],
      }),
    },
  },
  h2: {
    version: () => 'h2',
    roles: {
      'reply-h2': ({ port, rival }) => ({ files: {}, command: [rival('rival-h2'), '--listen', `127.0.0.1:${port}`] }),
    },
  },
  nginx: {
    version: () => ['nginx', '-v'],
    needs: { tool: 'nginx', debian: 'nginx-light' },
    roles: {
      reply: nginx('', 'return 200 "Hello, World!";'),
      'reply-h2': nginx(' http2', 'return 200 "Hello, World!";'),
      proxy: nginx('', `proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_max_temp_file_size 0;
      proxy_request_buffering off; client_body_buffer_size 64k; proxy_buffer_size 16k; proxy_buffers 8 64k; proxy_busy_buffers_size 128k;`),
    },
  },
  haproxy: {
    version: () => ['haproxy', '-v'],
    needs: { tool: 'haproxy', debian: 'haproxy' },
    roles: {
      reply: haproxy('http-request return status 200 content-type text/plain string "Hello, World!"'),
      proxy: haproxy('default_backend origin'),
    },
  },
  node: {
    version: () => ['node', '--version'],
    needs: { tool: 'node', debian: 'nodejs', package: 'undici' },
    roles: { reply: node, proxy: node },
  },
  ...gatewaySubjects,
  ...nodeSubjects,
  ...expressSubjects,
  ...rpcSubjects,
  ...runSubjects,
  ...transportSubjects,
};
