// What import gives and throws.
import { log } from './modules/esm/order.mjs';
import './modules/esm/tla.mjs';
import './modules/esm/beside.mjs';
import Thing, * as first from './modules/esm/first.mjs';
import second, { named, __esModule } from './modules/esm/second.cjs';
import * as cycleA from './modules/esm/cycle-a.mjs';
import { tried } from './modules/esm/cycle-b.mjs';
import data from './modules/esm/data.json' with { type: 'json' };
import util, { format } from 'util';
import * as nodeUtil from 'node:util';
import { createRequire } from 'node:module';

const root = import.meta.dirname;
const clean = (text) => String(text).split(root).join('.');
const show = async (name, run) => {
    try {
        const value = await run();
        console.log(name + ': ' + clean(JSON.stringify(value, (key, value) => typeof value === 'function' ? 'function ' + value.name : value === undefined ? 'undefined' : value)));
    } catch (error) {
        console.log(name + ' threw ' + error.constructor.name + ' ' + error.code + (error instanceof SyntaxError ? '' : ': ' + clean(error.message)));
    }
};
await show('order', () => log);
await show('order of cjs', () => globalThis.order);
await show('live', () => { const before = first.live; first.bump(); return [before, first.live, Object.keys(first), Thing.name]; });
await show('cjs', () => [second, named, __esModule]);
await show('cycle', () => [cycleA.lateA(), tried]);
await show('json', () => data);
await show('builtin', () => [util.format('%s', 'b'), format('%d', 5), nodeUtil.default === util, util === createRequire(import.meta.url)('util')]);
await show('meta', () => [clean(import.meta.url), import.meta.filename, import.meta.dirname, typeof import.meta.resolve]);
await show('meta of another', async () => { const { meta } = await import('./modules/esm/meta.mjs?query=1#hash'); return [meta.url, meta.filename, meta.dirname, Object.getPrototypeOf(meta)]; });
await show('resolve', () => ['./x.mjs', 'fs', 'node:fs', './modules/esm/order.mjs?x', 'file:///a/b'].map((name) => import.meta.resolve(name)));
for (const name of ['literal.cjs', 'assigned.cjs', 'reexport.cjs', 'star.cjs', 'hint.cjs', 'callable.cjs', 'second.cjs', 'ambiguous.js', 'plain.js']) {
    await show(name, async () => { const space = await import('./modules/esm/' + name); return [Object.keys(space), space.default, Object.prototype.toString.call(space)]; });
}
for (const name of ['./modules/esm/throws.mjs', './modules/esm/throws.mjs', './modules/esm/throws.cjs', './modules/esm/missing.mjs', './modules/esm/noexport.mjs', './modules/esm', './modules/esm/', './modules/esm/order', 'nothing', 'nothing/sub', '@x', 'node:nothing', './modules/esm/file.txt', 'http://x.y/', './modules/esm/a%2fb.mjs', '#x', '', '.', '..', './modules/esm/or%64er.mjs', new URL('./modules/esm/order.mjs', import.meta.url)]) {
    await show('import ' + clean(name), async () => Object.keys(await import(name)));
}
await show('same instance', async () => [(await import('./modules/esm/order.mjs')).log === log, (await import('./modules/esm/order.mjs?other')).log === log, (await import('./modules/esm/second.cjs')).default === second]);
const require = createRequire(import.meta.url);
await show('shared with require', () => require('./modules/esm/second.cjs') === second);
await show('require of esm', () => { const space = require('./modules/esm/order.mjs'); return [Object.keys(space), space.log === log]; });
await show('require of esm with default', () => { const space = require('./modules/esm/first.mjs'); return [Object.keys(space), space.__esModule, space.live]; });
await show('require of esm that waits', () => Object.keys(require('./modules/esm/tla.mjs')));
await show('require of esm that throws', () => require('./modules/esm/throws.mjs'));
const exporter = await import('./modules/node_modules/exporter/lib/main.mjs');
await show('package', () => exporter);
const late = createRequire(root + '/modules/cjs/x.js');
await show('this', () => String(this));
await show('types', () => [typeof module, typeof exports, typeof __filename, typeof globalThis.require]);
