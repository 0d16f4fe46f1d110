import assert from 'node:assert/strict';
import { test } from 'node:test';
import { majors } from '../../tools/nodes.mjs';
import { options, select } from '../engine/options.mjs';
import { CONTROL, order, shuffled, summarise, withControl } from '../engine/rounds.mjs';
import { section } from '../engine/table.mjs';
import { describe, judge } from '../engine/targets.mjs';
import { loads } from '../loads.mjs';
import { measures } from '../measures.mjs';
import { scenarios } from '../scenarios.mjs';
import { subjects } from '../subjects.mjs';

test('every scenario names only what exists', () => {
  const names = new Set();
  for (const scenario of scenarios) {
    assert.ok(!names.has(scenario.name), `${scenario.name} stands twice`);
    names.add(scenario.name);
    assert.ok(loads[scenario.load.kind], `${scenario.name}: load ${scenario.load.kind}`);
    for (const name of scenario.subjects) assert.ok(subjects[name]?.roles[scenario.role], `${scenario.name}: ${name} as ${scenario.role}`);
    assert.ok(!scenario.node || majors.includes(scenario.node), `${scenario.name}: Node.js ${scenario.node}`);
    for (const name of scenario.measures) assert.ok(measures[name], `${scenario.name}: measure ${name}`);
    for (const name of scenario.compare) assert.ok(scenario.measures.includes(name), `${scenario.name}: compares ${name}`);
    for (const target of scenario.targets) {
      assert.ok(measures[target.measure], `${scenario.name}: target ${target.measure}`);
      assert.ok(!target.against || scenario.subjects.includes(target.against), `${scenario.name}: against ${target.against}`);
      const bounds = ['atLeast', 'atMost', 'atMostMore'].filter((bound) => target[bound] !== undefined);
      assert.equal(bounds.length, 1, `${scenario.name}: one bound a target`);
      assert.ok(!bounds.includes('atMostMore') || target.against, `${scenario.name}: more than whom`);
    }
  }
});

test('a name chooses its scenario and those that begin with it', () => {
  const names = ['plain', 'h2', 'h2-multiplexed', 'proxy-small'];
  const cases = [
    [undefined, names],
    ['h2', ['h2', 'h2-multiplexed']],
    ['h2-multiplexed', ['h2-multiplexed']],
    ['proxy-small, plain', ['plain', 'proxy-small']],
    ['plain proxy', ['plain', 'proxy-small']],
  ];
  for (const [only, expected] of cases) assert.deepEqual(select(only, names), expected, `${only}`);
  assert.throws(() => select('plane', names), /no scenario plane; there are: plain, h2/);
});

test('what runs only when asked is chosen by its full name alone', () => {
  const names = ['node-json-20', 'node-json-22'];
  for (const [only, expected] of [[undefined, ['node-json-20']], ['node', ['node-json-20']], ['node-json', ['node-json-20']], ['node-json-22', ['node-json-22']]]) {
    assert.deepEqual(select(only, names, ['node-json-22']), expected, `${only}`);
  }
});

test('flags win over the environment, and quick runs are short', () => {
  const names = ['plain'];
  assert.equal(options([], {}, names).rounds, 5);
  assert.equal(options([], { QUICK: '1' }, names).rounds, 2);
  assert.equal(options([], { QUICK: '0' }, names).quick, false);
  assert.equal(options(['--rounds', '7'], { ROUNDS: '3' }, names).rounds, 7);
  assert.deepEqual(options(['plain'], {}, names).names, ['plain']);
  assert.throws(() => options(['--rounds', 'many'], {}, names), /rounds: "many" is not a whole number/);
  assert.throws(() => options(['--round', '7'], {}, names), /usage/);
});

test('the first subject runs twice a round, and rounds alternate in order', () => {
  const entries = withControl(['leat', 'hyper', 'nginx']);
  assert.deepEqual(order(entries, 0), ['leat', 'hyper', 'nginx', 'leat (A/A)']);
  assert.deepEqual(order(entries, 1), ['leat (A/A)', 'nginx', 'hyper', 'leat']);
});

test('a drawn order has everybody once, and follows the draws', () => {
  const entries = ['a', 'b', 'c', 'd'];
  assert.deepEqual(shuffled(entries).sort(), entries);
  assert.deepEqual(shuffled(entries, () => 0), ['b', 'c', 'd', 'a']);
  assert.deepEqual(shuffled(entries, () => 0.999), entries);
});

const scenario = {
  name: 'plain', subjects: ['leat', 'hyper'], measures: ['rps', 'cpu_us'], compare: ['rps', 'cpu_us'], load: { kind: 'wrk' },
  targets: [{ measure: 'rps', against: 'hyper', atLeast: 1.15 }, { measure: 'cpu_us', atMost: 5 }],
};
const samples = {
  leat: [{ rps: 120, cpu_us: 6 }, { rps: 130, cpu_us: 6 }],
  hyper: [{ rps: 100, cpu_us: 5 }, { rps: 100, cpu_us: 5, errors: 2 }],
  [`leat${CONTROL}`]: [{ rps: 121, cpu_us: 6 }, { rps: 128, cpu_us: 6 }],
};

test('targets are reached, missed, or not measured', () => {
  const outcomes = (given) => judge(scenario, given).map(({ outcome }) => outcome);
  assert.deepEqual(outcomes(samples), ['reached', 'missed']);
  assert.deepEqual(outcomes({ leat: samples.leat }), ['not measured', 'missed']);
  assert.deepEqual(outcomes({ hyper: samples.hyper }), ['not measured', 'not measured']);
  assert.equal(describe(scenario.targets[0]), 'requests/s ≥ 1.15 × hyper');
});

test('a target of memory allows so much more, not so many times as much', () => {
  const lean = { name: 'lean', subjects: ['leat/http', 'node:http'], targets: [{ measure: 'rss_mb', against: 'node:http', atMostMore: 10 }] };
  const of = (...values) => values.map((rss_mb) => ({ rss_mb }));
  const judged = (ours) => judge(lean, { 'leat/http': ours, 'node:http': of(60, 62, 61) })[0];
  assert.deepEqual(judged(of(70, 71, 72)), { text: 'peak RSS MB ≤ node:http + 10', measured: { median: 10, low: 9, high: 11, count: 3 }, outcome: 'reached' });
  assert.equal(judged(of(71, 73, 72)).outcome, 'missed');
});

test('a loss and an error stand in the table as plainly as a win', () => {
  const summary = summarise(scenario, samples);
  assert.equal(summary.reference, 'leat');
  assert.equal(summary.ratios.hyper.rps.verdict, 'better');
  assert.equal(summary.ratios.hyper.cpu_us.verdict, 'worse');
  const text = section({
    ...scenario, scenario: 'plain', title: 'a reply', summary, rounds: 2, seconds: 1, date: '2026-01-01', command: 'make bench', skipped: { nginx: 'nginx is missing' },
    failures: {}, machine: { cpu: 'X', cores: 2, virtual: true, memory_gb: 1, system: 'S', kernel: 'K', load: '0 0 0' }, versions: { hyper: 'hyper 1' },
  }).join('\n');
  assert.match(text, /\| hyper \| 1\.25 \(1\.20–1\.30\) win \| 1\.20 \(1\.20–1\.20\) \*\*loss\*\* \|/);
  assert.match(text, /\| hyper \| 100 \| 5\.00 \| \*\*2\*\* \|/);
  assert.match(text, /Not measured: nginx: nginx is missing/);
});
