// The libraries that are measured, from where packages/leat has them: its own build, and the versions that its lock file pins.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

export const require = createRequire(new URL('../../packages/leat/package.json', import.meta.url));

/** A package that only `import` can load, which Node.js 20's `require` cannot. */
export const imported = (name) => import(pathToFileURL(require.resolve(name)));
