console.log('before'); await null; setTimeout(() => console.log('never'), 5); throw new Error('top level');
