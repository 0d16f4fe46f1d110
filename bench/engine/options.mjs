// What a run is asked to do: flags first, then the environment (as `make bench NAME=value` passes it).

import { parseArgs } from 'node:util';

const USAGE = `usage: node bench/run.mjs [NAME…] [--quick] [--rounds N] [--seconds N] [--quiet N] [--again N]
                          [--leat PATH] [--no-build] [--list] [--page]
  NAME          scenarios of this name, or that begin with NAME- (ONLY=NAME,NAME); all unless told, but for those
                that --list marks as run only by their full name
  --quick       2 rounds of 1 s; prints, and leaves results and docs as they are (QUICK=1)
  --rounds N    5 unless told (ROUNDS)
  --seconds N   length of a measurement: 5 unless told (DURATION)
  --quiet N     wait up to N seconds for quiet cores before a measurement: 10 unless told, 0 if quick (QUIET)
  --again N     repeat what other programs disturbed up to N times: 2 unless told, 0 if quick (AGAIN)
  --leat PATH   the binary to measure: target/release/leat unless told (LEAT)
  --no-build    measure the programs as they are (NO_BUILD=1)
  --list        print the scenarios
  --page        measure nothing; write docs/benchmarks.md from the results that are there`;

/** Settings of a run, or an `Error` whose message says what to write instead. */
export function options(argv, env, names, asked = []) {
  let values;
  let positionals;
  try {
    ({ values, positionals } = parseArgs({ args: argv, allowPositionals: true, options: {
      quick: { type: 'boolean' }, rounds: { type: 'string' }, seconds: { type: 'string' }, quiet: { type: 'string' }, again: { type: 'string' },
      leat: { type: 'string' }, 'no-build': { type: 'boolean' }, list: { type: 'boolean' }, page: { type: 'boolean' }, help: { type: 'boolean' },
    } }));
  } catch (error) {
    throw new Error(`${error.message}\n${USAGE}`);
  }
  if (values.help) throw new Error(USAGE);
  const quick = values.quick ?? on(env.QUICK);
  return {
    quick,
    list: values.list ?? false,
    page: values.page ?? false,
    build: !(values['no-build'] ?? on(env.NO_BUILD)),
    leat: values.leat ?? env.LEAT,
    rounds: count('rounds', values.rounds ?? env.ROUNDS ?? (quick ? '2' : '5')),
    seconds: count('seconds', values.seconds ?? env.DURATION ?? (quick ? '1' : '5')),
    quiet: count('quiet', values.quiet ?? env.QUIET ?? (quick ? '0' : '10'), 0),
    again: count('again', values.again ?? env.AGAIN ?? (quick ? '0' : '2'), 0),
    warmup: 1,
    names: select(positionals.length ? positionals.join(',') : env.ONLY, names, asked),
  };
}

/** The scenarios that `only` names, in their own order; all without it. Those in `asked` only by their full name. */
export function select(only, names, asked = []) {
  if (!only) return names.filter((name) => !asked.includes(name));
  const wanted = only.split(/[\s,]+/).filter(Boolean);
  const matches = (wish, name) => name === wish || (name.startsWith(`${wish}-`) && !asked.includes(name));
  const unknown = wanted.filter((wish) => !names.some((name) => matches(wish, name)));
  if (unknown.length) throw new Error(`no scenario ${unknown.join(', ')}; there are: ${names.join(', ')}`);
  return names.filter((name) => wanted.some((wish) => matches(wish, name)));
}

function count(name, text, least = 1) {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > 1000) throw new Error(`${name}: "${text}" is not a whole number from ${least} to 1000`);
  return value;
}

const on = (text) => text !== undefined && text !== '' && text !== '0';
