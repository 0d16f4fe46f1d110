// The table of leat/http beside node:http, with the programs on `leat run`.
process.env.LEAT_CASE_TARGET = "embedded";
// Cases that are still open wait in vain.
process.env.LEAT_CASE_WAIT_MS ??= "1500";
await import("../../../../packages/leat/test/differential/differential.test.mjs");
