// The smallest app, for bench/starts.mjs: tells its port, and after its first reply the processor time that it took.
const express = require(process.argv[2]);

const app = express();
app.get('/', (req, res) => {
  res.on('finish', () => setImmediate(() => {
    const { user, system } = process.cpuUsage();
    process.send({ cpuMs: (user + system) / 1000 });
  }));
  res.json({ hello: 'world' });
});
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
