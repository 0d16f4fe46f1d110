// The page that people read, from the results of every scenario that was measured.

import { loads } from '../loads.mjs';
import { measures } from '../measures.mjs';
import { DISTURBED } from './measure.mjs';

const MARK = { better: 'win', worse: '**loss**', same: 'even', control: 'control', unknown: '(no control)' };

/** `docs/benchmarks.md` from results in the scenarios' order. */
export function page(results) {
  return [
    '# Benchmarks',
    '',
    'Written by `make bench`; do not edit. How it is measured, and how to read it: [bench/README.md](../bench/README.md).',
    '',
    'The subject runs on core 0. The load runs on core 1, and so does the origin behind proxies: the same for all, so ratios are',
    'fair, but a proxy that leaves its core idle (`core busy` below 0.95) is limited by the load, and then CPU a request is the',
    'figure to compare. `disturbed` is what other programs took of either core meanwhile: above 0.05 the figures are rough.',
    'Each figure is the median of the rounds; each ratio is made round by round (median, and where the median of endless rounds would lie',
    '19 times of 20; of five rounds or fewer the extremes).',
    'A ratio within what the control (a subject against itself) showed is called even.',
    '',
    '## Targets',
    '',
    ...table(['scenario', 'target', 'measured', 'outcome'], results.flatMap((result) => result.summary.targets.map((target) =>
      [`[${result.scenario}](#${result.scenario})`, target.text, target.measured ? range(target.measured, 2) : '', target.outcome === 'missed' ? '**missed**' : target.outcome]))),
    '',
    '## What lost',
    '',
    'Every comparison below that went against Leat by more than chance, in ratios.',
    '',
    ...lost(results),
    ...results.flatMap(section),
  ].join('\n');
}

/** Every comparison that the first subject lost by more than chance, those of missed targets among them. */
function lost(results) {
  const rows = results.flatMap(({ scenario, compare, summary }) => Object.entries(summary.ratios).flatMap(([entry, ratios]) =>
    compare.filter((name) => ratios[name]?.verdict === 'worse').map((name) =>
      [`[${scenario}](#${scenario})`, entry, measures[name].title, `${range(ratios[name], 2)} ×`])));
  return rows.length ? table(['scenario', 'against', 'measure', 'measured'], rows) : ['Nothing beyond chance.'];
}

/** One scenario, also what is printed to the terminal. */
export function section(result) {
  const { summary, measures: columns } = result;
  const entries = Object.keys(summary.figures);
  const rows = entries.map((entry) => {
    const figures = summary.figures[entry];
    return [entry, ...columns.map((name) => number(figures[name].median, measures[name].decimals)), figures.errors ? `**${figures.errors}**` : '0'];
  });
  const compared = Object.entries(summary.ratios).map(([entry, ratios]) =>
    [entry, ...Object.values(ratios).map((figure) => `${range(figure, 2)} ${MARK[figure.verdict]}`)]);
  return [
    '',
    `## ${result.scenario}`,
    '',
    `${result.title}. ${result.rounds} rounds${loads[result.load.kind].drive ? '' : ` of ${result.seconds} s`}${result.rate ? ` at ${result.rate} requests/s` : ''}, ${result.date}, \`${result.command}\`.`,
    '',
    ...(result.about ? [result.about, ''] : []),
    ...table(['subject', ...columns.map((name) => measures[name].title), 'errors'], rows),
    '',
    ...(compared.length ? table([`${summary.reference} ÷`, ...result.compare.map((name) => `${measures[name].title} (${measures[name].better} is better)`)], compared) : []),
    ...disturbance(summary.figures),
    ...Object.entries(result.skipped).map(([name, reason]) => `\nNot measured: ${name}: ${reason}.`),
    ...Object.entries(result.failures).map(([name, reason]) => `\n**Failed**: ${name}: ${reason.split('\n')[0]}.`),
    '',
    `${facts(result.machine)}. ${Object.values(result.versions).join('; ')}.`,
  ];
}

/** A warning where others took so much that requests a second and tails say little. */
function disturbance(figures) {
  const most = Math.max(0, ...Object.values(figures).map(({ foreign }) => foreign?.median ?? 0));
  if (most <= DISTURBED) return [];
  return [`\n**Rough**: other programs took up to ${Math.round(most * 100)} % of a core. Requests a second and latencies say little here; CPU a request says more.`];
}

function facts({ cpu, cores, virtual, memory_gb: memory, system, kernel, load }) {
  return `${cpu}, ${cores} cores${virtual ? ' (virtual)' : ''}, ${memory} GB, ${system}, Linux ${kernel}, load average before ${load}`;
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, column) => (column ? '---:' : '---'))), ...rows.map(line)];
}

function number(value, decimals) {
  if (!Number.isFinite(value)) return '';
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

function range({ median, low, high }, decimals) {
  return `${number(median, decimals)} (${number(low, decimals)}–${number(high, decimals)})`;
}
