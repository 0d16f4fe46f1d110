Promise.reject(new Error('rejected')); process.on('exit', (code) => console.log('exit', code)); setTimeout(() => console.log('never'), 50);
