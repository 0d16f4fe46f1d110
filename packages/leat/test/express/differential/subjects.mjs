// What programs run on: real Express on node:http (`reference`), leat/express (`leat`), leat/express served by Node's own
// server, as tools for tests do it (`leat-node`), real Express on leat/http (`http`), leat/express on `leat run` (`embedded`),
// and (for the test of the table itself) mutants of real Express.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { leat as binary } from "../../../../../crates/host/embedded/test/binary.mjs";
import { mutants } from "./mutants.mjs";

const require = createRequire(import.meta.url);
/** By its own name, as users do; the packages of this folder don't have it. */
const leat = createRequire(new URL("../../../package.json", import.meta.url));
const HOST = fileURLToPath(new URL("host.mjs", import.meta.url));
const REAL = { 5: "express", 4: "express4" };
const OURS = { 5: "leat/express", 4: "leat/express4" };
/** What `leat run` gives a program that asks for Express, whatever is installed. */
const BUILT_IN = { 5: "express", 4: "leat/express4" };

/** What is started to play cases: `[program, ...arguments]`, of a subject, a version of Express and the folder of fixtures. */
export function command(subject, version, folder) {
    return [...(subject === "embedded" ? [binary, "run"] : [process.execPath]), HOST, subject, String(version), folder];
}

/** The `express` that programs are given. */
export function load(subject, version) {
    if (subject === "embedded") return require(BUILT_IN[version]);
    if (subject.startsWith("leat")) return leat(OURS[version]);
    const express = require(REAL[version]);
    // Behind it: what asks for Express later is given Leat's.
    if (subject === "http") leat("leat/register");
    mutants[subject]?.change(express, version);
    return express;
}

/** Whether an app is given to Node's createServer, in place of listening by itself. */
export const servedByNode = (subject) => subject === "leat-node";
