// Measures one variant of one layer and prints it as a line of JSON: `node call.mjs LAYER VARIANT SETTINGS SECONDS`, where LAYER is a
// file of this folder, and SETTINGS are its own, in JSON. A layer either makes a call that is measured here, or measures itself.

import { again, bytes, promises, times } from './measured.mjs';

const [name, variant, settings, seconds] = process.argv.slice(2);
const layer = await import(new URL(`${name}.mjs`, import.meta.url));
const given = JSON.parse(settings);

if (layer.measure !== undefined) {
  console.log(JSON.stringify(await layer.measure(variant, given, Number(seconds))));
} else {
  const { run } = layer.make(variant, given);
  // Counted things are the same in every round, so that they are asked for once (load `self`); bytes in a process with room for them.
  const { COUNT: what } = process.env;
  if (what === 'bytes') console.log(JSON.stringify({ bytes: await bytes(run) }));
  else if (what === 'all') console.log(JSON.stringify({ promises: await promises(run), ...again('bytes') }));
  else console.log(JSON.stringify({ ...await times(run, Number(seconds)), errors: 0 }));
}
