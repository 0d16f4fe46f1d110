import assert from "node:assert/strict";
import { dirname } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { problems } from "./links.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cases = [
    ["a file that is there", "README.md", "[x](Makefile)", []],
    ["a file beside the page", "tools/page.md", "[x](links.mjs#top)", []],
    ["a folder", "README.md", "[x](tools)", []],
    ["a file that is not there", "README.md", "a\n[x](gone.md)", ["README.md:2: there is no gone.md"]],
    ["the web, a place in the page, a block of code", "README.md", "[x](https://example.org/y) [z](#here)\n```\n[x](gone.md)\n```", []],
];

for (const [name, path, text, expected] of cases) test(name, () => assert.deepEqual(problems(root, path, text), expected));
