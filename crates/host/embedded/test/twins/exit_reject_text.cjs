Promise.reject('only a text'); process.on('exit', (code) => console.log('exit', code));
