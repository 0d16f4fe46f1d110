// Whether Leat reached what it must.

import { measures } from '../measures.mjs';
import { ratio, spread } from './statistics.mjs';

/** Each target of a scenario with what was measured: `reached`, `missed`, or `not measured`. */
export function judge(scenario, samples) {
  const subject = scenario.subjects[0];
  return scenario.targets.map((target) => {
    const text = describe(target);
    const rivals = target.against ? samples[target.against] : true;
    if (!samples[subject]?.length || !rivals) return { text, outcome: 'not measured' };
    const ours = samples[subject].map((sample) => sample[target.measure]);
    const theirs = target.against && rivals.map((sample) => sample[target.measure]);
    const figure = measured(target, ours, theirs);
    return { text, measured: figure, outcome: reached(target, figure.median) ? 'reached' : 'missed' };
  });
}

/** Where memory is compared, a difference says more than a ratio; it is made round by round as well. */
function measured({ atMostMore }, ours, theirs) {
  if (!theirs) return spread(ours);
  if (atMostMore === undefined) return ratio(ours, theirs);
  return spread(ours.map((value, round) => value - theirs[round]));
}

function reached({ atLeast, atMost, atMostMore }, figure) {
  return atLeast === undefined ? figure <= (atMost ?? atMostMore) : figure >= atLeast;
}

/** A target in words. */
export function describe({ measure, against, atLeast, atMost, atMostMore }) {
  if (atMostMore !== undefined) return `${measures[measure].title} ≤ ${against} + ${atMostMore}`;
  const sign = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`;
  return `${measures[measure].title} ${sign}${against ? ` × ${against}` : ''}`;
}
