// `make bench`: every scenario against every subject in turn, results as JSON, a table in docs/benchmarks.md.

import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pathOf } from '../tools/nodes.mjs';
import { crateVersion, has, machine, versionLine } from './engine/machine.mjs';
import { options } from './engine/options.mjs';
import { stopAll } from './engine/process.mjs';
import { missingTools, run, summarise } from './engine/rounds.mjs';
import { page, section } from './engine/table.mjs';
import { scenarios } from './scenarios.mjs';
import { subjects } from './subjects.mjs';

const bench = fileURLToPath(new URL('.', import.meta.url));
const root = resolve(bench, '..');
const target = resolve(root, process.env.CARGO_TARGET_DIR ?? 'target', 'release');
/** Of 15, the fourth and the twelfth bound the median. */
const TURNS_MIN = 15;
const say = (text) => process.stderr.write(`${text}\n`);

try {
  const asked = scenarios.filter((scenario) => scenario.asked).map(({ name }) => name);
  const settings = options(process.argv.slice(2), process.env, scenarios.map(({ name }) => name), asked);
  if (settings.list) for (const { name, title } of scenarios) console.log(`${name.padEnd(26)}${title}${asked.includes(name) ? ' (only by its full name)' : ''}`);
  else if (settings.page) writePage();
  else await main(settings);
} catch (error) {
  say(error.message);
  process.exitCode = 2;
}

async function main(settings) {
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { stopAll(); process.exit(130); });
  if (availableParallelism() < 2) throw new Error('two cores are needed: one for the subject, one for the load');
  for (const [tool, debian] of [['taskset', 'util-linux'], ['prlimit', 'util-linux']]) {
    if (!has(tool)) throw new Error(`${tool} is missing: apt-get install ${debian}`);
  }
  if (settings.build) build();
  stepAside();
  const context = { rival: (name) => join(target, name), leat: settings.leat ? resolve(settings.leat) : join(target, 'leat'), node: pathOf };
  const absent = absentSubjects(context);
  const lock = readFileSync(join(root, 'Cargo.lock'), 'utf8');
  let failed = false;
  for (const scenario of scenarios.filter(({ name }) => settings.names.includes(name))) {
    try {
      failed = await one(scenario, settings, context, absent, lock) || failed;
    } catch (error) {
      // The others are measured all the same.
      say(`${scenario.name}: ${error.stack}`);
      failed = true;
    }
  }
  if (!settings.quick) writePage();
  if (failed) process.exitCode = 1;
}

/** This program reads logs of every request while others are measured: on a machine with cores beside theirs it does so on the last one. */
function stepAside() {
  const last = availableParallelism() - 1;
  if (last > 1) spawnSync('taskset', ['-a', '-p', '-c', String(last), String(process.pid)], { stdio: 'ignore' });
}

/** Measures a scenario and keeps what came of it; whether anything failed. */
async function one(scenario, settings, context, absent, lock) {
  const missing = missingTools(scenario, has);
  if (missing.length) {
    say(`${scenario.name}: skipped: ${missing.map(({ tool, debian }) => `${tool} is missing (apt-get install ${debian})`).join(', ')}`);
    return false;
  }
  if (scenario.node && !existsSync(pathOf(scenario.node))) {
    say(`${scenario.name}: skipped: Node.js ${scenario.node} is missing (node tools/nodes.mjs)`);
    return false;
  }
  const skipped = Object.fromEntries([...absent].filter(([name]) => scenario.subjects.includes(name)));
  for (const [name, reason] of Object.entries(skipped)) say(`${scenario.name}: without ${name}: ${reason}`);
  const facts = machine();
  const { rounds, seconds } = bounded(scenario, settings);
  const { samples, failures, rate } = await run(scenario, context, { ...settings, rounds, seconds }, absent, say);
  const isFailed = Object.keys(failures).length > 0;
  if (Object.keys(samples).length === 0) return isFailed;
  const result = {
    scenario: scenario.name, title: scenario.title, about: scenario.about, load: scenario.load, measures: scenario.measures, compare: scenario.compare,
    date: new Date().toISOString().slice(0, 10), command: commandLine(scenario, settings), rounds, seconds, rate,
    machine: facts, versions: versions(scenario, context, absent, lock), commit: commit(),
    skipped, failures, summary: summarise(scenario, samples), samples,
  };
  console.log(section(result).join('\n'));
  if (!settings.quick) keep(result);
  return isFailed;
}

function build() {
  if (has('cargo') && has('make')) must('make', ['build'], root);
  if (has('cargo')) must('cargo', ['build', '--release', '--locked', '-p', 'leat-bench-rivals', '--features', 'rivals'], root);
  if (has('cargo')) must('cargo', ['build', '--release', '--locked', '-p', 'leat-bench-rpc', '--features', 'rivals'], root);
  if (has('npm') && absentPackages().length) must('npm', ['ci', '--no-audit', '--no-fund'], bench);
}

function absentPackages() {
  const { dependencies } = JSON.parse(readFileSync(join(bench, 'package.json'), 'utf8'));
  return Object.keys(dependencies).filter((name) => !existsSync(join(bench, 'node_modules', name)));
}

function must(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
}

/** Subjects that cannot run here, each with what would help. */
function absentSubjects(context) {
  const absent = new Map();
  for (const [name, { needs, absent: absentBecause }] of Object.entries(subjects)) {
    if (needs?.tool && !has(needs.tool)) absent.set(name, `${needs.tool} is missing (apt-get install ${needs.debian})`);
    if (needs?.binary && !runnable(context[needs.binary])) absent.set(name, `there is no binary: ${needs.how}`);
    if (needs?.package && !existsSync(join(bench, 'node_modules', needs.package))) absent.set(name, `${needs.package} is missing (npm ci in bench/)`);
    const missing = absentBecause?.();
    if (missing) absent.set(name, missing);
    if (needs?.addon && !builtPackage()) absent.set(name, 'packages/leat is not built (make build)');
  }
  return absent;
}

/** `LEAT_ADDON` names an addon to measure in place of the package's own. */
function builtPackage() {
  const leat = join(root, 'packages', 'leat');
  const addons = existsSync(join(leat, 'native')) ? readdirSync(join(leat, 'native')).filter((name) => name.endsWith('.node')) : [];
  return existsSync(join(leat, 'dist', 'http', 'index.js')) && (addons.length > 0 || Boolean(process.env.LEAT_ADDON));
}

function runnable(path) {
  try {
    accessSync(path, constants.X_OK);
    return isAbsolute(path);
  } catch {
    return false;
  }
}

function versions(scenario, context, absent, lock) {
  const of = (name) => {
    const version = subjects[name].version({ ...context, node: scenario.node && pathOf(scenario.node) });
    return Array.isArray(version) ? versionLine(version) : crateVersion(version, lock);
  };
  const tools = { wrk: ['wrk', '-v'], h2load: ['h2load', '--version'] };
  const tool = tools[scenario.load.kind];
  const entries = scenario.subjects.filter((name) => !absent.has(name)).map((name) => [name, of(name)]);
  for (const name of scenario.packages ?? []) entries.push([name, JSON.parse(readFileSync(join(bench, 'node_modules', name, 'package.json'), 'utf8')).version]);
  if (tool) entries.push([tool[0], versionLine(tool)]);
  entries.push(['rustc', versionLine(['rustc', '--version'])]);
  return Object.fromEntries(entries.filter(([, version]) => version).map(([name, version]) => [name, version.startsWith(name) ? version : `${name} ${version}`]));
}

function commit() {
  return spawnSync('git', ['describe', '--always', '--dirty'], { cwd: root, encoding: 'utf8' }).stdout?.trim() || undefined;
}

/**
 * What a scenario asks for besides: enough rounds, however few were asked for, and no more time than it can use. Where subjects take
 * turns, the time that each was to get is cut into turns of a second, and there are enough of them to say how far they scatter.
 */
function bounded({ turns, roundsMin = 0, secondsMax = Infinity }, { quick, rounds, seconds }) {
  if (turns) return { rounds: quick ? rounds * seconds : Math.max(rounds * seconds, TURNS_MIN), seconds: 1 };
  return { rounds: quick ? rounds : Math.max(rounds, roundsMin), seconds: Math.min(seconds, secondsMax) };
}

/** What measures this scenario again. */
function commandLine({ name }, { rounds, seconds, quiet, again }) {
  return `make bench ONLY=${name} ROUNDS=${rounds} DURATION=${seconds} QUIET=${quiet} AGAIN=${again}`;
}

function keep(result) {
  mkdirSync(join(bench, 'results'), { recursive: true });
  writeFileSync(join(bench, 'results', `${result.scenario}.json`), `${JSON.stringify(result, null, 1)}\n`);
}

/** The page is made of the newest result of every scenario, so a run of a few leaves the others standing. */
function writePage() {
  const files = scenarios.map(({ name }) => join(bench, 'results', `${name}.json`)).filter((file) => existsSync(file));
  mkdirSync(join(root, 'docs'), { recursive: true });
  writeFileSync(join(root, 'docs', 'benchmarks.md'), `${page(files.map((file) => JSON.parse(readFileSync(file, 'utf8'))))}\n`);
}
