// What require gives and throws.
const root = __dirname;
const clean = (text) => String(text).split(root).join('.');
const show = (name, run) => {
    try {
        const value = run();
        console.log(name + ': ' + clean(typeof value === 'function' ? 'function ' + value.name : JSON.stringify(value)));
    } catch (error) {
        console.log(name + ' threw ' + error.constructor.name + ' ' + error.code + ': ' + clean(error.message) + ' ' + clean(JSON.stringify(error.requireStack)));
    }
};
const requests = ['./modules/cjs/a', './modules/cjs/b.js', './modules/cjs/dir', './modules/cjs/dir/', './modules/cjs/withmain', './modules/cjs/bom.json', './modules/cjs/data', './modules/cjs/hashbang', './modules/cjs/ext.cjs', './modules/cjs/ext', './modules/cjs/throws', './modules/cjs/throws', './modules/cjs/returns', './modules/cjs/this', './modules/cjs/child', './modules/cjs/nomain', './nothing', '../nothing', '/nothing/at/all', 'nothing', 'nothing/sub', '@nothing/pkg', 'node:nothing', 'node:', '.', './', './modules/cjs/', 'fs/nothing', './modules/cjs/dir/index.js/', '#x', 'test', 'sqlite'];
for (const request of requests) show(request, () => require(request));
const fromModules = require('module').createRequire(__dirname + '/modules/cjs/x.js');
for (const request of ['plain', 'plain/deep', 'plain/deep.js', 'plain/gone', 'plain/package.json', 'exporter', 'exporter/feature', 'exporter/files/feature', 'exporter/files/private/x', 'exporter/only-default', 'exporter/list', 'exporter/listbad', 'exporter/gone', 'exporter/bad', 'exporter/out', 'exporter/none', 'exporter/pkg/feature.js', 'exporter/package.json', 'exporter/long/feature/x', 'exporter/long/else', 'exporter/lib/main.cjs', 'exporter/missing', 'exporter/files/../main', '@scope/pkg', '@scope/pkg/sub', 'badmix', 'indexonly', 'indexonly/sub', './data.json', '../../modules/cjs/ext.cjs']) {
    show('resolve ' + request, () => fromModules.resolve(request));
    show(request, () => fromModules(request));
}
show('self', () => fromModules('exporter').self());
show('paths', () => fromModules.resolve.paths('x').slice(0, 3));
show('paths of ./', () => fromModules.resolve.paths('./x'));
show('paths of fs', () => fromModules.resolve.paths('fs'));
show('resolve with paths', () => require.resolve('plain', { paths: [__dirname + '/modules/cjs'] }));
show('resolve with paths, relative', () => require.resolve('./ext.cjs', { paths: [__dirname + '/modules/cjs'] }));
show('resolve with paths, missing', () => require.resolve('./ext2.cjs', { paths: [__dirname + '/modules/cjs'] }));
show('resolve builtin', () => [require.resolve('fs'), require.resolve('node:fs')]);
show('main', () => [require.main === module, module.id, module.filename === __filename, module.loaded, module.children.length > 3, module.paths[0].endsWith('twins/node_modules')]);
show('keys', () => Object.keys(require).join());
show('module keys', () => Object.keys(module).join());
show('extensions', () => Object.keys(require.extensions));
show('same', () => [require('fs') === require('node:fs'), require('./modules/cjs/ext.cjs') === fromModules('./ext.cjs')]);
for (const bad of [undefined, null, 5, '', {}, [], true]) show('bad ' + JSON.stringify(bad), () => require(bad));
delete require.cache[require.resolve('./modules/cjs/ext.cjs')];
require('./modules/cjs/ext.cjs');
show('deleted from the cache', () => Object.keys(require.cache).filter((name) => name.endsWith('ext.cjs')).length);
require.cache[require.resolve('./modules/cjs/ext.cjs')].exports = 'replaced';
show('replaced in the cache', () => require('./modules/cjs/ext.cjs'));
require.extensions['.txt'] = (made, filename) => { made.exports = 'text of ' + filename.split('/').pop(); };
show('typeof', () => [typeof module.constructor, module.constructor.name, module instanceof require('module'), require('module').Module === require('module')]);
show('isBuiltin', () => ['fs', 'node:fs', 'nope', 'node:test', 'test', './fs', 'fs/promises'].map((name) => require('module').isBuiltin(name)));
show('createRequire of a URL', () => require('module').createRequire('file://' + __filename).resolve('./modules/cjs/a.js'));
show('createRequire of nonsense', () => require('module').createRequire('relative'));
show('esm', () => { const esm = fromModules('esmonly'); return [Object.keys(esm), esm.answer, esm.default(), esm.__esModule]; });
show('wrap', () => require('module').wrap('x'));
const Module = require('module');
const made = new Module('/virtual/x.js');
made.filename = '/virtual/x.js';
made._compile('module.exports = { sum: 1 + 2, file: __filename, dir: __dirname }', '/virtual/x.js');
show('_compile', () => made.exports);
const load = Module._load;
Module._load = function (request, ...rest) { return request === 'magic' ? 'mocked' : load.call(this, request, ...rest); };
show('patched _load', () => require('magic'));
const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) { return resolveFilename.call(this, request === 'alias' ? './modules/cjs/dir' : request, ...rest); };
show('patched _resolveFilename', () => require('alias'));
