// What the programs that count instructions have in common: their command line, a process under valgrind's callgrind that one client asks,
// and the lines that they print.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { each, parseCallgrind } from './callgrind.mjs';
import { has } from './machine.mjs';
import { open } from './one_by_one.mjs';

const REQUESTS_MAX = 100_000;
const START_MS_MAX = 60_000;

/**
 * What the command line asks for: `{ leat, requests, shown, names, values }`. Ends the process where it is wrong, and where a program that is
 * needed besides valgrind is missing. `cases` are the names that there are; with `isOpen` there are others.
 */
export function commandLine({ program, what, cases, requests, isOpen = false, options = {}, usage = '', needs = [] }) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      requests: { type: 'string', default: String(requests) },
      functions: { type: 'string', default: '0' },
      leat: { type: 'string', default: process.env.LEAT_BIN ?? fileURLToPath(new URL('../../target/release/leat', import.meta.url)) },
      ...options,
    },
  });
  const [wanted, shown] = [Number(values.requests), Number(values.functions)];
  const unknown = isOpen ? [] : positionals.filter((name) => !cases.includes(name));
  if (!(Number.isInteger(wanted) && wanted >= 1 && wanted <= REQUESTS_MAX && Number.isInteger(shown)) || unknown.length > 0) {
    console.error(`usage: node bench/${program} [${cases.join('|')}${isOpen ? '|APP.js' : ''}…] [--requests 1..${REQUESTS_MAX}] [--functions N]${usage} [--leat PATH]`);
    process.exit(2);
  }
  for (const needed of ['valgrind', ...needs]) {
    if (has(needed)) continue;
    console.log(`SKIP instructions of ${what}: ${needed} is missing${needed === 'valgrind' ? ' (apt-get install valgrind)' : ''}`);
    process.exit(0);
  }
  const leat = resolve(values.leat);
  if (!existsSync(leat)) {
    console.error(`${leat} is missing: make build, or --leat PATH`);
    process.exit(2);
  }
  return { leat, requests: wanted, shown, names: positionals.length > 0 ? positionals : cases, values };
}

/** What callgrind counts of `leat` with these arguments, while `client` uses a connection to `port`. `out` is a file for its notes. */
export async function counted({ leat, parameters, env, port, out, client }) {
  const watched = ['--tool=callgrind', '--dump-line=no', `--callgrind-out-file=${out}`, leat, ...parameters];
  const child = spawn('valgrind', watched, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => { said += text; });
  const ended = new Promise((done) => child.on('close', done));
  try {
    const socket = await open(port, Date.now() + START_MS_MAX);
    await client(socket);
    socket.destroy();
    child.kill('SIGTERM');
    await ended;
    return parseCallgrind(readFileSync(out, 'utf8'));
  } catch (error) {
    throw new Error(`${error.message}\n${said}`);
  } finally {
    child.kill('SIGKILL');
  }
}

/**
 * Instructions a request: of what `few` and `many`, which has so many `requests` more, were counted, what is between them. Prints them, and
 * the functions that take most.
 */
export function print(name, [few, many], { requests, shown }) {
  const { total, functions } = each(few, many, requests);
  console.log(`${name.padEnd(48)}${total.toFixed(0).padStart(10)} instructions a request`);
  for (const { name: of, instructions, calls } of functions.slice(0, shown)) line(of, instructions.toFixed(0), calls.toFixed(2));
  return total;
}

/** One function's line. */
export function line(name, instructions, calls) {
  console.log(`  ${name.slice(0, 78).padEnd(80)}${String(instructions).padStart(8)}${String(calls).padStart(10)} calls`);
}
