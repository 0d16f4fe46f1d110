// Measures one variant of one layer and prints it as a line of JSON: `node call.mjs LAYER VARIANT SETTINGS SECONDS`, where LAYER is a
// file of this folder, and SETTINGS are its own, in JSON.

import { again, bytes, promises, times } from './measured.mjs';

const [layer, variant, settings, seconds] = process.argv.slice(2);
const { make } = await import(new URL(`${layer}.mjs`, import.meta.url));
const { run, close } = await make(variant, JSON.parse(settings));

if (process.env.COUNT === 'bytes') console.log(JSON.stringify({ bytes: await bytes(run) }));
else console.log(JSON.stringify({ ...await times(run, Number(seconds)), promises: await promises(run), ...again('bytes'), errors: 0 }));
await close?.();
