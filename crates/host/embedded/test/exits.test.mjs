// When a process with a server ends, on `leat run` as on node:http.
process.env.LEAT_SUBJECT = "embedded";
await import("../../../../packages/leat/test/lifetime/exits.test.mjs");
