setImmediate(() => { throw new TypeError('later'); }); process.on('exit', (code) => console.log('exit', code));
