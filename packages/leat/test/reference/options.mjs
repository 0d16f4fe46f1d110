// What is known of every option that Leat serves, or takes without an effect. Those that it refuses say so themselves, in
// src/http/options.ts; which options there are at all is known from Node's declarations.

/** As on Node's server: it is Node's code that reads it. */
const NODE = "as by node:http";

/**
 * Options by name. `unit` is what a number counts; `default` is Node's, which a test compares with `property` of a server
 * where there is one; `served: false` is taken and without an effect, and `note` says why.
 */
export const HTTP = {
    IncomingMessage: { default: "Node's class", note: "a subclass of Node's class is built for every request" },
    ServerResponse: { default: "Node's class", note: "a subclass of Node's class is built for every reply" },
    requestTimeout: { default: 300_000, unit: "ms", property: true, note: "from a request's first byte to the end of its body; 0 is without end" },
    headersTimeout: { default: 60_000, unit: "ms", property: true, note: "from a request's first byte to the end of its head" },
    keepAliveTimeout: { default: 5_000, unit: "ms", property: true, note: "between two requests of a connection; 0 is without end" },
    keepAliveTimeoutBuffer: { default: 1_000, unit: "ms", note: "how much longer than `keepAliveTimeout` an idle connection is really kept (newer Nodes)" },
    connectionsCheckingInterval: { default: 30_000, unit: "ms", property: true, served: false, note: "the engine ends a time when it is over, and not at the next check" },
    maxHeaderSize: { default: 16_384, unit: "bytes", note: "of the request line and all fields, up to 16 MiB; `--max-http-header-size` sets the default" },
    insecureHTTPParser: { default: false, note: "`false` only" },
    httpValidation: { default: "strict", note: "`strict` only (newer Nodes)" },
    highWaterMark: { default: "16384, or 65536 (newer Nodes)", unit: "bytes", note: `what a stream holds before it asks to wait, ${NODE}` },
    joinDuplicateHeaders: { default: false, note: NODE },
    uniqueHeaders: { default: "none", note: NODE },
    requireHostHeader: { default: true, property: true, note: "400 for an HTTP/1.1 request without Host" },
    rejectNonStandardBodyWrites: { default: false, property: true, note: "an error for a body in a reply that has none" },
    shouldUpgradeCallback: { default: "whether anybody listens for `'upgrade'`", note: "newer Nodes" },
    optimizeEmptyRequests: { default: false, note: "newer Nodes" },
    noDelay: { default: true, property: true, note: "no Nagle's algorithm" },
    keepAlive: { default: false, property: true, note: "TCP keep-alive" },
    keepAliveInitialDelay: { default: 0, unit: "ms", property: true, note: "idle time before the first TCP keep-alive probe; 0 is the system's" },
    allowHalfOpen: { default: true, property: true, served: false, note: "node:http sets it by itself, whatever is given" },
    pauseOnConnect: { default: false, property: true, served: false, note: "the engine reads as fast as requests are taken" },
    http2: { default: false, leat: true, note: "HTTP/2 beside HTTP/1.1: by ALPN over TLS, by prior knowledge without" },
};

export const TLS = {
    key: { default: "none", note: "PEM text or a Buffer of it, or a list beside as many of `cert`" },
    cert: { default: "none", note: "PEM text or a Buffer of it: the certificate and what leads to its root" },
    passphrase: { default: "none", note: "of an encrypted `key`; `key: [{ pem, passphrase }]` works too" },
    ca: { default: "the roots that Node brings", note: "who may sign certificates of clients" },
    requestCert: { default: false, note: "asks clients for a certificate" },
    rejectUnauthorized: { default: true, note: "with `requestCert`: no connection without a good one" },
    minVersion: { default: "TLSv1.2", note: "`TLSv1` and `TLSv1.1` mean `TLSv1.2`, the oldest that the engine speaks" },
    maxVersion: { default: "TLSv1.3", note: "`TLSv1.2` or `TLSv1.3`" },
    handshakeTimeout: { default: 120_000, unit: "ms", note: "the default only" },
    ALPNProtocols: { default: "`http/1.1`, and with `http2` `h2` before it", note: "`h2` and `http/1.1` are offered if named; other names are never agreed on" },
    honorCipherOrder: { default: true, served: false, note: "every cipher that is offered is a good one" },
    sessionTimeout: { default: "300 s", unit: "s", served: false, note: "tickets and their age are the engine's own" },
    sessionIdContext: { default: "none", served: false, note: "tickets are the engine's own" },
    allowPartialTrustChain: { default: false, served: false, note: "chains of clients lead to a root that `ca` holds" },
};

export const LISTEN = {
    port: { default: 0, note: "0 is a free one" },
    host: { default: "`::`, or `0.0.0.0` without IPv6", note: "a name is looked up by Node; its first address counts" },
    path: { default: "none", note: "a Unix socket" },
    backlog: { default: 511, unit: "connections", note: "that wait to be accepted" },
    exclusive: { default: false, note: `in a cluster: not shared with other workers, ${NODE}` },
    reusePort: { default: false, leat: true, note: "several threads or processes may listen on the same port, and connections are dealt out to them" },
    ipv6Only: { default: false, note: "`::` without IPv4" },
    readableAll: { default: false, note: "who may read the Unix socket" },
    writableAll: { default: false, note: "who may write to the Unix socket" },
    signal: { default: "none", note: "closes the server when it is aborted" },
};
