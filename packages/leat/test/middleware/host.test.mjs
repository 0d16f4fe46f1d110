// The compiler of plans needs nothing of its host: it runs in a context that has the language alone.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInContext, createContext } from "node:vm";

const bundle = readFileSync(new URL("../../dist/leat.js", import.meta.url), "utf8");

/** The modules of the folder, as the bundle has them. */
function modules() {
    const found = bundle.split(/^\/\/ ---- (.*)\.js\n/m);
    const own = [];
    for (let at = 1; at < found.length; at += 2) if (found[at].startsWith("middleware/")) own.push([found[at], found[at + 1].replace(/\};\s*$/, "").trimEnd()]);
    return own;
}

test("it requires only its own files, and runs without any global of Node's", () => {
    const own = modules();
    assert.ok(own.some(([name]) => name === "middleware/index"));
    const context = createContext(Object.create(null));
    // Whatever is left of a host there would be found by name.
    for (const name of ["process", "Buffer", "setTimeout", "queueMicrotask", "performance", "AbortController", "require"]) {
        assert.equal(runInContext(`typeof ${name}`, context), "undefined");
    }
    const program = `
        const modules = {${own.map(([, code]) => code.replace(/,$/, "")).join(",\n")}};
        const loaded = {};
        const load = (name) => {
            if (loaded[name]) return loaded[name].exports;
            const module = (loaded[name] = { exports: {} });
            modules[name](module.exports, (id) => {
                if (!id.startsWith("./")) throw new Error(name + " requires " + id);
                return load("middleware/" + id.slice(2));
            }, module);
            return module.exports;
        };
        const { compile, middleware, slot } = load("middleware/index");
        const user = slot("user").of();
        const list = [
            middleware({ name: "retry", scope: "call", repeats: true, around(context, next) { try { return next(); } catch { return next(); } } }),
            middleware({ name: "sign", scope: "attempt", reads: [user], onRequest: (context) => ({ headers: { authorization: context.get(user) + context.attempt } }) }),
        ];
        const seen = [];
        for (const development of [false, true]) {
            const plan = compile(list, { development, provides: [user] });
            const response = plan.run({ method: "GET", path: "/", headers: {} }, (request, { attempt }) => {
                if (attempt === 1) throw new Error("once");
                return { status: 200, headers: request.headers };
            }, { set: { user: "me" } });
            seen.push(response.headers.authorization);
        }
        seen.join();`;
    assert.equal(runInContext(program, context), "me2,me2");
});
