// All rounds of one scenario: who takes part, in which order, with the control, and what comes of it.

import { fileURLToPath } from 'node:url';
import { loads } from '../loads.mjs';
import { measures } from '../measures.mjs';
import { count } from './counting.mjs';
import { ask, begin, end, measure, prepare, quietly, told, withUpstream } from './measure.mjs';
import { ratio, spread, verdict } from './statistics.mjs';
import { judge } from './targets.mjs';

const sources = fileURLToPath(new URL('../../', import.meta.url));

/** Suffix of the subject that is entered twice. */
export const CONTROL = ' (A/A)';

/** Runs a scenario. `absent` are the subjects that cannot run, each with its reason; `say` reports progress. */
export async function run(scenario, context, settings, absent, say) {
  const present = scenario.subjects.filter((name) => !absent.has(name));
  if (present.length === 0) return { samples: {}, failures: {} };
  const entries = withControl(present);
  const samples = Object.fromEntries(entries.map((name) => [name, []]));
  const failures = {};
  const outcome = await withUpstream(scenario, context, async (upstream) => {
    const rate = scenario.load.share && await openRate(scenario, present, context, upstream, settings, say);
    const fail = (entry, error) => {
      // What is kept says nothing of where the sources stand.
      failures[entry] = error.message.replaceAll(sources, '');
      say(`${scenario.name}: ${error.message}`);
    };
    const take = scenario.turns ? await together(scenario, entries, context, upstream, settings, fail) : {
      sample: (entry) => measure(scenario, original(entry), context, upstream, { ...settings, rate }),
      end: () => {},
    };
    try {
      for (let round = 0; round < settings.rounds; round += 1) {
        let { quiet } = settings;
        for (const entry of scenario.shuffled ? shuffled(entries) : order(entries, round)) {
          if (failures[entry]) continue;
          try {
            const sample = await quietly({ ...settings, quiet }, () => take.sample(entry));
            if (scenario.glance === 'round') quiet = 0;
            samples[entry].push(sample);
            say(`${scenario.name}, round ${round + 1}/${settings.rounds}, ${entry}: ${brief(sample, scenario)}`);
          } catch (error) {
            fail(entry, error);
          }
        }
      }
    } finally {
      await take.end();
    }
    for (const entry of scenario.counted ? present.filter((name) => !failures[name]) : []) {
      try {
        Object.assign(samples[entry][0], await count(scenario, entry, context, upstream));
        say(`${scenario.name}, counted, ${entry}: ${brief(samples[entry][0], { measures: scenario.counted })}`);
      } catch (error) {
        say(`${scenario.name}, counted: ${error.message}`);
      }
    }
    return { rate };
  });
  for (const entry of Object.keys(failures)) delete samples[entry];
  return { ...outcome, samples, failures };
}

/** Starts all entries at once. They share the subject's core, and whoever is not asked sleeps. */
async function together(scenario, entries, context, upstream, { seconds, warmup }, fail) {
  const started = new Map();
  for (const entry of entries) {
    const subject = await prepare(scenario, original(entry), context, upstream);
    started.set(entry, subject);
    await begin(subject, warmup).catch((error) => fail(entry, told(subject, error)));
  }
  return {
    sample: async (entry) => ask(started.get(entry), seconds).catch((error) => { throw told(started.get(entry), error); }),
    end: async () => { for (const subject of started.values()) await end(subject); },
  };
}

/** The first subject a second time, at the other end of the order. */
export const withControl = (names) => [...names, `${names[0]}${CONTROL}`];

/** Forwards in even rounds, backwards in odd ones: what drifts over a round meets everybody alike. */
export const order = (entries, round) => (round % 2 ? [...entries].reverse() : entries);

/** As drawn: no place in a round belongs to anybody. */
export function shuffled(entries, draw = Math.random) {
  const drawn = [...entries];
  for (let left = drawn.length; left > 1; left -= 1) {
    const at = Math.floor(draw() * left);
    [drawn[left - 1], drawn[at]] = [drawn[at], drawn[left - 1]];
  }
  return drawn;
}

const original = (entry) => entry.replace(CONTROL, '');

/** The rate of an open loop: a share of what the slowest subject carries when it is asked as fast as it answers. */
async function openRate(scenario, names, context, upstream, settings, say) {
  const flat = { ...scenario, load: { kind: 'wrk', connections: scenario.load.connections, path: scenario.load.path } };
  const highest = [];
  for (const name of names) {
    const { rps } = await measure(flat, name, context, upstream, { seconds: Math.min(2, settings.seconds), warmup: 0 });
    highest.push(rps);
  }
  const rate = Math.round(Math.min(...highest) * scenario.load.share);
  say(`${scenario.name}: ${rate} requests/s, ${scenario.load.share} of ${Math.round(Math.min(...highest))}`);
  return rate;
}

function brief(sample, scenario) {
  const shown = scenario.measures.filter((name) => Number.isFinite(sample[name])).map((name) => `${name} ${sample[name].toFixed(measures[name].decimals)}`);
  return `${shown.join(', ')}${sample.errors ? `, ERRORS ${sample.errors}` : ''}`;
}

/** What chance does to what is counted. */
const EXACT = { low: 1, high: 1 };

/** Medians and spreads of every subject, ratios of the first to each other, and the targets. */
export function summarise(scenario, samples) {
  const entries = Object.keys(samples);
  const values = (entry, measure) => samples[entry].map((sample) => sample[measure]);
  const figures = Object.fromEntries(entries.map((entry) => [entry, {
    ...Object.fromEntries(scenario.measures.map((name) => [name, spread(values(entry, name))])),
    errors: samples[entry].reduce((sum, sample) => sum + (sample.errors ?? 0), 0),
  }]));
  const reference = entries[0];
  const control = `${reference}${CONTROL}`;
  const ratios = {};
  for (const entry of entries.slice(1)) {
    ratios[entry] = Object.fromEntries(scenario.compare.map((name) => {
      const ours = ratio(values(reference, name), values(entry, name));
      const chance = scenario.counted?.includes(name) ? EXACT : samples[control] && ratio(values(reference, name), values(control, name));
      const says = entry === control ? 'control' : verdict(ours, chance, measures[name].better);
      return [name, { ...ours, verdict: says }];
    }));
  }
  return { reference, figures, ratios, targets: judge(scenario, samples) };
}

const REDIS = { tool: 'redis-server', debian: 'redis-server' };

/** The tools that a scenario needs and this machine lacks. */
export const missingTools = (scenario, has) => [...loads[scenario.load.kind].needs, ...(scenario.redis ? [REDIS] : [])].filter(({ tool }) => !has(tool));
