process.on('exit', (code) => { console.log('exit', code); process.exit(9); }); setTimeout(() => console.log('never'), 1000); process.exit(5); console.log('never');
