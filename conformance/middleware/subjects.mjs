// What the suites run on. One process is for one project (`five` has Express 5, `four` Express 4) and one way of starting:
// plainly, or with `--import leat/register`. run.mjs starts all four.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import http from "node:http";

const project = process.env.LEAT_PROJECT ?? "five";
const require = createRequire(new URL(`./${project}/load.mjs`, import.meta.url));
const { load } = await import(`./${project}/load.mjs`);

export const major = project === "five" ? 5 : 4;
/** Where programs start, so that `express` and `leat/register` are found as in a user's project. */
export const folder = fileURLToPath(new URL(`./${project}/`, import.meta.url));
export const registered = process.execArgv.includes("leat/register");
export const row = `express${major}`;

/** The default export of a package of the project, or its namespace if it has none; `{ all: true }` gives the namespace. */
export async function use(name, { all = false } = {}) {
    const namespace = await load(name);
    return all || namespace.default === undefined ? namespace : namespace.default;
}

const express = await use("express");
const leatHttp = require("leat/http");
const leatExpress = require(major === 5 ? "leat/express" : "leat/express4");

if (registered && express !== leatExpress) throw new Error("leat/register did not map express");
if (!registered && express === leatExpress) throw new Error("express is not npm's");

/**
 * `{ name, kind, express, http }` each. `kind` says what the table's verdict asks of it: a "reference" always passes, "import" is
 * the app by its import, "register" the app that knows nothing of Leat.
 */
export const subjects = registered
    ? [{ name: "leat/register", kind: "register", express, http }]
    : [
          { name: `express ${major} on node:http`, kind: "reference", express, http },
          { name: `express ${major} on leat/http`, kind: "reference", express, http: leatHttp },
          { name: "leat/express on leat/http", kind: "import", express: leatExpress, http: leatHttp },
          { name: "leat/express on node:http", kind: "import", express: leatExpress, http },
      ];
