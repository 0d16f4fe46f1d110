// Types are blanked: what is left stands where it stood. Every case runs through `module.stripTypeScriptTypes`.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { leat } from "./binary.mjs";

const RUN_MS_MAX = 30_000;
const execute = promisify(execFile);

/** Source, and what is left of it with runs of spaces as one and no space at ends. */
const CASES = [
    ["let x: number = 1", "let x = 1"],
    ["let x!: string", "let x"],
    ["const f = (a: string, b?: number, ...c: any[]): void => {}", "const f = (a , b , ...c ) => {}"],
    ["function f<T extends object = {}>(this: Window, a: T): asserts a is T {}", "function f ( a ) {}"],
    ["const a = b as unknown as string", "const a = b"],
    ["const a = b satisfies C", "const a = b"],
    ["const a = b!.c!.d![0]!", "const a = b .c .d [0]"],
    ["const a = <string>b", "const a = b"],
    ["foo<string>(1); new Map<string, number>(); a?.<T>(b); tag<T>`x`", "foo (1); new Map (); a?. (b); tag `x`"],
    ["type A = string\ninterface B { c: number }\nlet d", "let d"],
    ["import type { A } from 'a'; import { type B, c, type D } from 'e'", "import { c, } from 'e'"],
    ["export type { A }; export type * from 'a'; export { type B, c }", "export { c }"],
    ["export type A = 1; export interface B {} export const c = 1", "export const c = 1"],
    ["declare const a: number; declare function b(): void; declare class C {} declare module 'x' {} declare global { var y: 1 } let z", "let z"],
    ["declare enum E { A }\ndeclare namespace N { let x: 1 }\nlet z", "let z"],
    ["namespace Only { export type T = 1; interface I {} }\nlet z", "let z"],
    ["function f(a: string): void\nfunction f(a: number): void\nfunction f(a: any) { return a }", "function f(a ) { return a }"],
    ["class A<T> extends B<T> implements C, D<T> { private readonly x: number = 1; declare y: string; z?: T; w!: T; static #p: number = 2; public static async m?<U>(a: U): Promise<void> {} }", "class A extends B { x = 1; z ; w ; static #p = 2; static async m (a ) {} }"],
    ["abstract class A { abstract x: number; abstract m(): void; protected constructor(a: string) { super() } [key: string]: any; override n() {} }", "class A { constructor(a ) { super() } n() {} }"],
    ["export default abstract class A {}", "export default class A {}"],
    ["export abstract class A {}", "export class A {}"],
    ["export default interface A { b: 1 }\nlet z", "let z"],
    ["class A { m(a: string): void; m(a: number): void; m(a: any) {} get g(): string { return '' } set g(v: string) {} }", "class A { m(a ) {} get g() { return '' } set g(v ) {} }"],
    ["class A { constructor(readonly2: string) {} readonly = 1; static readonly b = 2; declare = 3; public = 4 }", "class A { constructor(readonly2 ) {} readonly = 1; static b = 2; declare = 3; public = 4 }"],
    ["const f = async <T>(a: T) => a", "const f = async (a ) => a"],
    ["const f = <T,>(a: T) => a", "const f = (a ) => a"],
    ["const f = async <\nT\n>(a: T) => a", "const f = async (\n\n a ) => a"],
    ["const f = (a: string):\n  Promise<void> => a", "const f = (a \n ) => a"],
    ["const f = (a): a is string => true", "const f = (a) => true"],
    ["const a = b as any\n(c)", "const a = b ;\n(c)"],
    ["const a = b as any\n[c].d()", "const a = b ;\n[c].d()"],
    ["let a\ntype B = string\n(c)", "let a\n;\n(c)"],
    ["let a: string\n[b] = c", "let a ;\n[b] = c"],
    ["class A { a = 1\n public [b] = 2 }", "class A { a = 1\n ; [b] = 2 }"],
    ["class A { a: number\n *g() {} }", "class A { a ;\n *g() {} }"],
    ["for (const a of b as string[]) {}", "for (const a of b ) {}"],
    ["try {} catch (e: unknown) {}", "try {} catch (e ) {}"],
    ["const { a, b }: { a: string; b: number } = c; const [d]: string[] = e", "const { a, b } = c; const [d] = e"],
    ["let f: (a: string) => void = (b) => b, g: new () => A", "let f = (b) => b, g"],
    ["const s = 'type A = 1', t = `as ${a as string}` // as x", "const s = 'type A = 1', t = `as ${a }` // as x"],
    ["let x /* : a */ : /* b */ string /* c */ = 1", "let x /* : a */ /* c */ = 1"],
    ["label: for (;;) { break label }", "label: for (;;) { break label }"],
    ["const a = cond ? (b as string) : c", "const a = cond ? (b ) : c"],
    ["export * as ns from 'x'; export { a } from 'b'; export default (a as string)", "export * as ns from 'x'; export { a } from 'b'; export default (a )"],
    ["enum A { B }", "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX 1:1"],
    ["let a;\n  const enum A { B }", "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX 2:3"],
    ["namespace A { export const b = 1 }", "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX 1:1"],
    ["class A { constructor(private a: string) {} }", "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX 1:23"],
    ["import a = require('a')", "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX 1:1"],
    ["export = a", "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX 1:1"],
    ["@d class A {}", "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX 1:1"],
    ["class A { @d m() {} }", "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX 1:11"],
    ["let x: = 1", "ERR_INVALID_TYPESCRIPT_SYNTAX 1:8"],
];

const folder = mkdtempSync(join(tmpdir(), "leat-types-"));
test.after(() => rmSync(folder, { recursive: true }));

/** The results of all sources, from one program. */
async function stripped() {
    const program = join(folder, "strip.cjs");
    writeFileSync(
        program,
        `const { stripTypeScriptTypes } = require('node:module');
        console.log(JSON.stringify(${JSON.stringify(CASES.map(([source]) => source))}.map((source) => {
            try { return stripTypeScriptTypes(source); } catch (error) { return error.code + ' ' + /(\\d+:\\d+)$/.exec(error.stack)[1]; }
        })));`,
    );
    const { stdout } = await execute(leat, ["run", program], { timeout: RUN_MS_MAX });
    return JSON.parse(stdout);
}

const tight = (text) => text.replace(/ +/g, " ").replace(/ ?; ?/g, ";").replace(/^[ \n]+|[ \n]+$/g, "").replace(/(?<=\n) (?=\n)/g, "");
const results = await stripped();

for (const [at, [source, expected]] of CASES.entries()) {
    test(source, () => {
        const result = results[at];
        assert.equal(tight(result), tight(expected));
        if (expected.startsWith("ERR_")) return;
        assert.equal(result.length, source.length);
        assert.deepEqual([...result].map((c, i) => (c === "\n" ? i : -1)).filter((i) => i >= 0), [...source].map((c, i) => (c === "\n" ? i : -1)).filter((i) => i >= 0));
    });
}

test("a program of .ts, .mts and .cts files runs, and errors say where", async () => {
    writeFileSync(join(folder, "main.ts"), "import { a, type A } from './a.mts';\nimport c from './c.cts';\nconst shown: A = a satisfies number;\nconsole.log(shown, c.c);\nconst f = (x: number): number => { throw new Error('here' as string) };\ntry { f(1) } catch (error) { console.log((error as Error).stack!.split('\\n')[1]!.replace(/.*main/, 'main')) }\n");
    writeFileSync(join(folder, "a.mts"), "export type A = number;\nexport const a: A = 5;\n");
    writeFileSync(join(folder, "c.cts"), "interface X { c: string }\nconst x: X = { c: 'c' };\nmodule.exports = x;\n");
    const { stdout } = await execute(leat, ["run", join(folder, "main.ts")], { timeout: RUN_MS_MAX });
    assert.equal(stdout, "5 c\nmain.ts:5:46)\n");
});
