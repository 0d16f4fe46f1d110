// Exports of built-in modules are plain properties: tools replace them.
const names = { assert: "ok", crypto: "createHash", dns: "lookup", events: "once", fs: "readFileSync", http: "createServer", os: "hostname", path: "join", querystring: "parse", timers: "setTimeout", url: "parse", util: "inspect", zlib: "gzipSync" };
for (const [module, name] of Object.entries(names)) {
    const exported = require(`node:${module}`);
    const before = exported[name];
    const { writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(exported, name);
    exported[name] = () => "mine";
    console.log(module, name, writable, enumerable, configurable, exported[name](), require(module)[name] === exported[name]);
    exported[name] = before;
}
