// Loaded before an app (`node --require`): prints the lane's counters when the process ends.
'use strict';

const { join } = require('node:path');

const path = join(__dirname, '../../packages/leat/dist/native/load.js');

process.on('exit', () => {
  const { addon } = require.cache[path]?.exports ?? {};
  if (addon) process.stderr.write(`\n${addon().metrics()}\n`);
});
