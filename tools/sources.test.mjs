import assert from "node:assert/strict";
import { test } from "node:test";
import { problems } from "./sources.mjs";

const cases = [
    ["a plain file", "crates/wire/h1/src/head.rs", "use memchr::memchr;\n", []],
    ["600 lines are enough", "crates/cli/src/main.rs", "x\n".repeat(600), []],
    ["601 lines are too many", "crates/cli/src/main.rs", "x\n".repeat(601), [/main\.rs:601: 601 lines/]],
    ["data may be long", "corpus/request/host.json", "x\n".repeat(6000), []],
    ["a file that names no concept", "crates/cli/src/utils.rs", "", [/"utils" names no concept/]],
    ["a folder that names no concept", "bench/common/load.mjs", "", [/"common" names no concept/]],
    ["unsafe in the scan, explained", "crates/wire/h1/src/scan/lanes.rs", "// SAFETY: in bounds.\nlet x = unsafe { y };\n", []],
    ["unsafe in the scan, unexplained", "crates/wire/h1/src/scan/lanes.rs", "let x = unsafe { y };\n", [/without a SAFETY comment/]],
    ["unsafe elsewhere", "crates/inbound/serve/src/lib.rs", "// SAFETY: no.\nlet x = unsafe { y };\n", [/lib\.rs:2: unsafe stands only/]],
    ["the lint's name is no unsafe", "crates/inbound/serve/src/lib.rs", "#![forbid(unsafe_code)]\n", []],
    ["unsafe in a comment or a string", "crates/inbound/serve/src/lib.rs", '// unsafe\nlet x = "unsafe";\n', []],
    ["a clock on the wire", "crates/wire/h1/src/head.rs", "use std::time::Instant;\n", [/head\.rs:1: no clock/]],
    ["a clock in the wire's tests", "crates/wire/h1/src/head.rs", "#[cfg(test)]\nmod tests {\n    use std::time::Instant;\n}\n", []],
    ["a clock in a sibling test file", "crates/wire/h1/src/head/tests.rs", "use std::time::Instant;\n", []],
    ["a clock in serve", "crates/inbound/serve/src/lib.rs", "use std::time::Instant;\n", []],
    ["a runtime on the wire", "crates/wire/rpc/src/lib.rs", "use tokio::io::AsyncRead;\n", [/no runtime here/]],
    ["I/O on the wire", "crates/wire/rpc/src/lib.rs", "use std::net::TcpStream;\n", [/no I\/O here/]],
    ["an address is no I/O", "crates/base/message/src/peer.rs", "use std::net::IpAddr;\n", []],
    ["a point in time as an argument", "crates/base/policy/src/breaker.rs", "use std::time::Instant;\n", []],
    ["the time of day in a policy", "crates/base/policy/src/breaker.rs", "let now = Instant::now();\n", [/no clock/]],
    ["a thread in base/observe", "crates/base/observe/src/lib.rs", "std::thread::spawn(f);\n", []],
    ["a runtime in base/observe", "crates/base/observe/src/lib.rs", "tokio::spawn(f);\n", [/no runtime here/]],
    ["TypeScript named as the others", "packages/leat/src/http/incoming_message.ts", "export const a = 1;\n", []],
    ["TypeScript named otherwise", "packages/leat/src/http/IncomingMessage.ts", "", [/"IncomingMessage\.ts" is named unlike/]],
    ["TypeScript that is too long", "packages/leat/src/http/server.ts", "x\n".repeat(601), [/server\.ts:601: 601 lines/]],
    ["any as a type", "packages/leat/src/http/server.ts", "const a: any = 1;\nconst b = c as any[];\nlet d: Map<string, any>;\n", [/:1: no any/, /:2: no any/, /:3: no any/]],
    ["any as a word or a name", "packages/leat/src/http/server.ts", '// any\n/** any\n * any */\nconst s = "any", t = `any`;\nPromise.any([many, anyOf]);\nconst o = { any: 1 };\n', []],
    ["a lint rule switched off for a reason", "packages/leat/src/http/server.ts", "// eslint-disable-next-line @typescript-eslint/no-deprecated -- Node's own subclass calls it\n", []],
    ["a lint rule switched off without a reason", "packages/leat/src/http/server.ts", "// eslint-disable-next-line @typescript-eslint/no-deprecated\n", [/after -- the reason/]],
    ["all lint rules switched off", "packages/leat/test/server.test.mjs", "/* eslint-disable -- tests */\n", [/name the rule/]],
    ["types that are not checked", "packages/leat/src/http/server.ts", "// @ts-ignore: no\n// @ts-nocheck\n", [/:1: no @ts-ignore/, /:2: no @ts-ignore/]],
    ["an error of types that is expected", "packages/leat/src/http/server.ts", "// @ts-expect-error Node's types leave it out\n", []],
    ["a lock file without addresses", "bench/package-lock.json", '{ "integrity": "sha512-x" }\n', []],
    ["a lock file with addresses", "bench/package-lock.json", '{\n  "resolved": "https://registry.example.org/x"\n}\n', [/package-lock\.json:2: no addresses/]],
    ["unsafe in the lane, explained", "crates/handle/script/src/ring.rs", "// SAFETY: one reader.\nlet x = unsafe { y };\n", []],
    ["unsafe in the Node host, unexplained", "crates/host/node/src/lib.rs", "let x = unsafe { y };\n", [/without a SAFETY comment/]],
];

for (const [name, path, text, expected] of cases) {
    test(name, () => {
        const found = problems(path, text);
        assert.equal(found.length, expected.length, found.join("\n"));
        expected.forEach((pattern, at) => assert.match(found[at], pattern));
    });
}
