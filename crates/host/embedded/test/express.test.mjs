// The table of leat/express beside Express, with the programs on `leat run`.
process.env.LEAT_EXPRESS = "embedded";
await import("../../../../packages/leat/test/express/differential/differential.test.mjs");
