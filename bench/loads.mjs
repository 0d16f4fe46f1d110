// How subjects are asked, as data: one entry a kind of load. `needs` lists the tools it runs, each with the Debian
// package that brings it. `command` is what runs on the load's core; `read` makes a sample of what it printed. A kind
// with `drive` runs otherwise (it keeps the load open while it looks, or starts the subject itself).
//
// A load is given: load (the scenario's settings), seconds, port, upstreamPort, rate (for an open loop), out (a file that it may
// write), rival(name) = path of a program of bench/rivals.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseH2load, parseLine, parseLogLatencies } from './engine/parse.mjs';
import { median } from './engine/statistics.mjs';
import { protocols } from './rpc/note.mjs';

const script = fileURLToPath(new URL('load/wrk.lua', import.meta.url));
const firstByte = fileURLToPath(new URL('load/first_byte.mjs', import.meta.url));
const many = fileURLToPath(new URL('load/many.mjs', import.meta.url));
/** Fields of every request. They are functions, so that what a client shows of itself stands in no result. */
const fields = (load) => Object.entries(load.headers?.() ?? {}).map(([name, value]) => `field=${name}: ${value}`);
const url = ({ port, load }) => `http://127.0.0.1:${port}${load.path}`;

export const loads = {
  // A closed loop on HTTP/1.1. wrk counts whole seconds.
  wrk: {
    needs: [{ tool: 'wrk', debian: 'wrk' }],
    command: (given) => {
      const { load, seconds } = given;
      const settings = ['pipeline', 'body', 'json'].filter((name) => load[name]).map((name) => `${name}=${load[name]}`);
      return ['wrk', '-t1', `-c${load.connections}`, `-d${Math.max(1, Math.round(seconds))}s`, '--timeout', '10s', '-s', script, url(given), '--', ...settings, ...fields(load)];
    },
    read: ({ stdout }) => {
      const report = parseLine(stdout);
      return { ...report, rps: report.requests / report.seconds };
    },
  },

  // HTTP/2, or HTTP/1.1 with `protocol: 'h1'`; with a rate it asks by the clock. Percentiles come from its log of every
  // request: h2load itself prints only the mean.
  h2load: {
    needs: [{ tool: 'h2load', debian: 'nghttp2-client' }],
    command: (given) => {
      const { load, seconds, rate, out } = given;
      return ['h2load', ...(load.protocol === 'h1' ? ['--h1'] : []), `-c${load.connections}`, `-m${load.streams}`, '-D', String(seconds),
        ...(rate ? [`--rps=${(rate / load.connections).toFixed(3)}`] : []), `--log-file=${out}`,
        ...Object.entries(load.headers?.() ?? {}).flatMap(([name, value]) => ['-H', `${name}: ${value}`]), url(given)];
    },
    read: ({ stdout, out, seconds }) => {
      const report = parseH2load(stdout);
      const latency = parseLogLatencies(readFileSync(out, 'utf8'));
      return { ...report, ...latency, rps: report.requests / seconds };
    },
  },

  // Unary calls of the echo service by h2load: over HTTP/2, or with `protocol: 'h1'`. h2load sees the HTTP status of an answer; what it says
  // is checked once before.
  rpc: {
    needs: [{ tool: 'h2load', debian: 'nghttp2-client' }],
    command: (given) => {
      const { load, out } = given;
      const { headers, body } = protocols[load.rpc];
      writeFileSync(`${out}.body`, body(load.bytes));
      const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
      return [...loads.h2load.command(given).slice(0, -1), '-d', `${out}.body`, ...sent, url(given)];
    },
    read: (given) => loads.h2load.read(given),
  },

  // An open loop on HTTP/1.1 with exponential gaps; latencies count from the scheduled moment.
  open: {
    needs: [],
    command: ({ rival, port, load, rate, seconds }) =>
      [rival('bench-load'), 'open', `127.0.0.1:${port}`, '--path', load.path, '--rate', String(Math.round(rate)), '--seconds', String(seconds), '--connections', String(load.connections)],
    read: ({ stdout }) => parseLine(stdout),
  },

  // Connections that asked once and stay: memory before, of a process that has been left alone after its start, and while they are held.
  idle: {
    needs: [],
    drive: async ({ rival, port, load, run, memory, pause }) => {
      await pause(2000);
      const before = memory();
      const holder = run([rival('bench-load'), 'idle', `127.0.0.1:${port}`, '--connections', String(load.connections), '--path', load.path]);
      const opened = parseLine(await holder.firstLine());
      await pause(1000);
      const after = memory();
      const { alive } = parseLine(await holder.finish());
      const idle = after.rss_kb - before.rss_kb;
      return {
        idle_rss_mb: after.rss_kb / 1024,
        empty_rss_mb: before.rss_kb / 1024,
        idle_kb: idle / load.connections,
        held: alive,
        errors: opened.refused,
      };
    },
  },

  // So many requests, and memory behind them: what a process that has been left alone holds after the first of them, and after all.
  many: {
    needs: [],
    drive: async ({ port, load, run, memory, pause }) => {
      const ask = async (requests) => {
        await run([process.execPath, many, String(port), load.path, String(load.connections), String(requests), load.json ?? '', JSON.stringify(load.headers?.() ?? {})]).finish();
        await pause(2000);
        return memory();
      };
      const warm = await ask(load.warm);
      const after = await ask(load.requests);
      return {
        warm_rss_mb: warm.rss_kb / 1024,
        after_rss_mb: after.rss_kb / 1024,
        rss_mb: after.peak_kb / 1024,
        grown_mb: (after.rss_kb - warm.rss_kb) / 1024,
        errors: 0,
      };
    },
  },

  // The closed loop at several widths in turn, each on connections of its own, from the one process: `rps_N` for each, and
  // `cpu_us_N` of the subject. The last two widths are asked of the origin alone as well: what the load and the origin lose by
  // themselves is no loss of the subject's.
  widths: {
    needs: [{ tool: 'wrk', debian: 'wrk' }],
    drive: async (given) => {
      const { load, seconds, run, memory, cpuSeconds, upstreamPort } = given;
      const sample = { errors: 0 };
      const ask = async (connections, port) => {
        const { command, read } = loads.wrk;
        return read({ stdout: await run(command({ ...given, port, load: { ...load, connections }, seconds })).finish() });
      };
      for (const connections of load.widths) {
        const before = cpuSeconds();
        const { rps, requests, errors } = await ask(connections, given.port);
        sample[`rps_${connections}`] = rps;
        sample[`cpu_us_${connections}`] = ((cpuSeconds() - before) * 1e6) / requests;
        sample.errors += errors;
      }
      const kept = ([narrow, wide]) => wide / narrow;
      const widest = load.widths.slice(-2);
      const alone = [];
      for (const connections of widest) alone.push((await ask(connections, upstreamPort)).rps);
      return { ...sample, kept: kept(widest.map((connections) => sample[`rps_${connections}`])), origin_kept: kept(alone), rss_mb: memory().peak_kb / 1024 };
    },
  },

  // The first byte of a body that is as long as one likes, one request at a time: behind the subject, and at the origin itself.
  first_byte: {
    needs: [],
    drive: async ({ port, upstreamPort, load, run, memory }) => {
      const asked = parseLine(await run([process.execPath, firstByte, String(port), String(upstreamPort), load.path, String(load.times)]).finish());
      return { ...asked, rss_mb: memory().peak_kb / 1024 };
    },
  },

  // None: the subject measures itself on its core, and prints what came of it as a line of JSON.
  self: {
    needs: [],
    startsSubject: true,
    drive: async ({ run, subjectCommand, core, seconds }) => parseLine(await run(['taskset', '-c', String(core), ...subjectCommand, String(seconds)]).finish()),
    count: async ({ run, subjectCommand, core, seconds }) => parseLine(await run(['env', 'COUNT=all', 'taskset', '-c', String(core), ...subjectCommand, String(seconds)]).finish()),
  },

  // From exec to the first answer. The program starts the subject itself, on the subject's core.
  start: {
    needs: [],
    startsSubject: true,
    drive: async ({ rival, port, load, run, subjectCommand, core, loadCore }) => {
      const asked = run([rival('bench-load'), 'start', `127.0.0.1:${port}`, '--path', load.path, '--times', String(load.times), '--core', String(core), '--asking-core', String(loadCore), '--', ...subjectCommand]);
      const { first_answer_ms: times } = parseLine(await asked.finish());
      return { first_answer_ms: median(times), first_answer_worst_ms: Math.max(...times), errors: 0 };
    },
  },
};
