// Starts and stops what is measured and what asks. Everything started here is stopped here, by its own id.

import { execFileSync, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { tree } from './accounting.mjs';

const STOP_PATIENCE_MS = 3000;
const running = new Set();

/** Starts a command on one core, with as many descriptors as this machine allows. */
export function start(command, { core, dir, env = {} }) {
  const child = spawn('taskset', ['-c', String(core), 'prlimit', `--nofile=${descriptors()}:`, ...command], {
    cwd: dir,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  running.add(child);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (text) => { output[name] += text; });
  }
  child.stdin.on('error', () => {}); // It may be gone before its input is closed.
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => { running.delete(child); resolve({ code, signal, ...output }); });
  });
  ended.catch(() => running.delete(child));
  return { child, output, ended, pid: child.pid };
}

/** Runs a command to its end on one core; its output if it ended well. */
export async function finish(command, settings) {
  return ending(start(command, settings), command);
}

/** A started command that prints a line, then waits for the end of its input. */
export function converse(command, settings) {
  const process = start(command, settings);
  return {
    firstLine: () => new Promise((resolve, reject) => {
      process.child.stdout.on('data', () => process.output.stdout.includes('\n') && resolve(process.output.stdout));
      process.ended.then(({ stderr }) => reject(new Error(`${basename(command[0])} ended early: ${stderr.trim()}`)), reject);
    }),
    finish: () => { process.child.stdin.end(); return ending(process, command); },
  };
}

async function ending(process, command) {
  const { code, signal, stdout, stderr } = await process.ended;
  if (code !== 0) throw new Error(`${basename(command[0])}: ${signal ?? `exit ${code}`}: ${(stderr || stdout).trim().slice(-1000)}`);
  return stdout;
}

/** Asks a started process to stop; what is left of its tree after a while is killed. */
export async function stop(process) {
  if (process.child.exitCode !== null || process.child.signalCode !== null) return;
  const family = tree(process.pid);
  process.child.kill('SIGTERM');
  const stopped = await Promise.race([process.ended.then(() => true), pause(STOP_PATIENCE_MS, false)]);
  if (!stopped) {
    for (const pid of family) signal(pid, 'SIGKILL');
    await process.ended;
  }
}

/** Stops all that this harness started, at once: for an interrupted run. */
export function stopAll() {
  for (const child of running) {
    for (const pid of tree(child.pid)) signal(pid, 'SIGKILL');
  }
}

/** A port that nobody listens on. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve, reject) => server.on('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

let limit;
/** How many descriptors a process may have here. */
export function descriptors() {
  limit ??= Math.min(1_000_000, Number(execFileSync('prlimit', ['--nofile', '--raw', '--noheadings', '-o', 'HARD'], { encoding: 'utf8' })) || 20_000);
  return limit;
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}
