// The table of leat/http beside node:http, with the programs on `leat run`.
process.env.LEAT_CASE_TARGET = "embedded";
await import("../../../../packages/leat/test/differential/differential.test.mjs");
