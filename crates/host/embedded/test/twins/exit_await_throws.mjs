process.on('exit', (code) => console.log('exit', code));
await null;
throw new Error('behind an await');
