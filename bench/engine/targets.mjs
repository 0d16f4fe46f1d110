// Whether Leat reached what it must.

import { measures } from '../measures.mjs';
import { ratio, spread } from './statistics.mjs';

const SUBJECT = 'leat';

/** Each target of a scenario with what was measured: `reached`, `missed`, or `not measured`. */
export function judge(scenario, samples) {
  return scenario.targets.map((target) => {
    const text = describe(target);
    const rivals = target.against ? samples[target.against] : true;
    if (!samples[SUBJECT]?.length || !rivals) return { text, outcome: 'not measured' };
    const ours = samples[SUBJECT].map((sample) => sample[target.measure]);
    const figure = target.against ? ratio(ours, rivals.map((sample) => sample[target.measure])) : spread(ours);
    const good = target.atLeast === undefined ? figure.median <= target.atMost : figure.median >= target.atLeast;
    return { text, measured: figure, outcome: good ? 'reached' : 'missed' };
  });
}

/** A target in words. */
export function describe({ measure, against, atLeast, atMost }) {
  const sign = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`;
  return `${measures[measure].title} ${sign}${against ? ` × ${against}` : ''}`;
}
