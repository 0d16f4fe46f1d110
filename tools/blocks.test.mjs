import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks } from "./blocks.mjs";

const fence = "```";
const cases = [
    ["commands marked test", `text\n${fence}sh test\na\nb\n${fence}\n`, [{ kind: "commands", line: 2, body: "a\nb", needs: [] }]],
    ["commands with packages from npm", `${fence}sh test koa ws\na\n${fence}\n`, [{ kind: "commands", line: 1, body: "a", needs: ["koa", "ws"] }]],
    ["a program with a name", `${fence}js a.mjs\na();\n${fence}\n`, [{ kind: "program", line: 1, body: "a();", file: "a.mjs" }]],
    ["a program for people", `${fence}js\na();\n${fence}\n`, []],
    ["commands for people", `${fence}sh\na\n${fence}\n`, []],
    ["a whole configuration", `${fence}yaml\na: 1\n${fence}\n`, [{ kind: "config", line: 1, body: "a: 1", file: undefined }]],
    ["a configuration with a name", `${fence}yaml leat.yaml\na: 1\n${fence}\n`, [{ kind: "config", line: 1, body: "a: 1", file: "leat.yaml" }]],
    ["a part of a configuration", `${fence}yaml part\na: 1\n${fence}\n`, []],
    ["a schema with a name", `${fence}proto a.proto\nb\n${fence}\n`, [{ kind: "program", line: 1, body: "b", file: "a.proto" }]],
    ["a schema for people", `${fence}proto\nb\n${fence}\n`, []],
    ["rules with a name", `${fence}yaml rules a.yaml\nb: 1\n${fence}\n`, [{ kind: "program", line: 1, body: "b: 1", file: "a.yaml" }]],
    ["an indented block", `- x\n  ${fence}yaml\n  a:\n    b: 1\n  ${fence}\n`, [{ kind: "config", line: 2, body: "a:\n  b: 1", file: undefined }]],
    ["a block inside a longer fence", `${fence}\`md\n${fence}yaml\na: 1\n${fence}\n${fence}\`\n`, []],
    ["an empty block", `${fence}sh test\n${fence}\n`, [{ kind: "commands", line: 1, body: "", needs: [] }]],
];

for (const [name, text, expected] of cases) test(name, () => assert.deepEqual(blocks(text), expected));
