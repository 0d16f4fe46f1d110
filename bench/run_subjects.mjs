// `leat run`, as data: the cases of apps/express_cases.mjs without Node.js. A role is given what subjects.mjs says.

import { fileURLToPath } from 'node:url';
import { CASES, STATIC_BYTES } from './express_subjects.mjs';

const app = fileURLToPath(new URL('apps/express_cases.mjs', import.meta.url));

export const runSubjects = {
  'leat run': {
    version: ({ leat }) => [leat, 'version'],
    roles: Object.fromEntries(CASES.map((name) => [`express-${name}`, ({ port, leat }) => ({
      files: { 'file.css': 'x'.repeat(STATIC_BYTES) },
      command: [leat, 'run', app, name, 'express', String(port)],
      env: { NODE_ENV: 'production' },
    })])),
  },
};
