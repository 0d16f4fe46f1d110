const root = __dirname; const clean = (text) => String(text).split(root).join('.');
(async () => {
    const { log } = await import('./modules/esm/order.mjs'); log.push('from cjs');
    console.log(Object.keys(await import('./modules/esm/tla.mjs')).join(), log.join());
    console.log((await import('fs')).default === require('fs'), (await import('./modules/esm/callable.cjs')).default === require('./modules/esm/callable.cjs'));
    for (const name of ['./modules/esm/nowhere.mjs', 'nowhere', './modules/esm/throws.mjs']) await import(name).catch((error) => console.log(error.code, clean(error.message)));
    console.log(require('./modules/esm/order.mjs').log === log);
    try { require('./modules/esm/waits-on.mjs'); } catch (error) { console.log(error.code); }
    try { require('./modules/esm/circle.mjs'); } catch (error) { console.log(error.code); }
    console.log(typeof (await import('./modules/esm/plain.js')).default.cjs);
    const lazy = () => import('./modules/esm/beside.mjs');
    console.log(Object.keys(await lazy()).length, log.join());
})();
console.log('sync end');
