import assert from "node:assert/strict";
import { test } from "node:test";
import { listeningPort } from "./gateway.mjs";

const cases = [
    ["JSON", '{"level":"info","event":"listening","address":"127.0.0.1:8080","tls":false}', 8080],
    ["JSON, IPv6", '{"event":"listening","address":"[::1]:8443"}', 8443],
    ["JSON, a Unix socket", '{"event":"listening","address":"/run/leat.sock"}', undefined],
    ["JSON, another event", '{"event":"started","address":"127.0.0.1:8080"}', undefined],
    ["cut off JSON", '{"event":"listening","addr', undefined],
    ["human", "leat: listening on http://127.0.0.1:8080", 8080],
    ["human, with a time in front", "12:30:01 info listening on http://127.0.0.1:8080/ (web)", 8080],
    ["human, with a name", "listening address=127.0.0.1:8080", 8080],
    ["human, the admin's", "admin listening address=127.0.0.1:9901", undefined],
    ["JSON, the admin's", '{"event":"admin_listening","address":"127.0.0.1:9901"}', undefined],
    ["human, another line", "cannot bind 127.0.0.1:8080", undefined],
];

for (const [name, line, expected] of cases) test(`a listening line: ${name}`, () => assert.equal(listeningPort(line), expected));
