// The members of interfaces in @types/node: what options there are by Node's own declarations, of the version that is pinned.
import { readFileSync } from "node:fs";
import ts from "typescript";

const folder = new URL("../../node_modules/@types/node/", import.meta.url);

/** The names of all members of `name` in the declarations of `module`, inherited ones too; `[interface, member]` in their order. */
export function members(module, name) {
    const found = new Map();
    collect(module, name, found);
    return [...found].map(([member, owner]) => [owner, member]);
}

function collect(module, name, found) {
    const { interfaces, modules } = declarations(module);
    const nodes = interfaces.get(name);
    if (nodes === undefined) throw new Error(`no interface ${name} in ${module}.d.ts`);
    for (const node of nodes) {
        for (const member of node.members) if (!found.has(member.name.text)) found.set(member.name.text, `${module}.${name}`);
        for (const { expression } of node.heritageClauses?.flatMap(({ types }) => types) ?? []) {
            if (ts.isPropertyAccessExpression(expression)) collect(modules.get(expression.expression.text), expression.name.text, found);
            else if (interfaces.has(expression.text)) collect(module, expression.text, found);
            else collect(GLOBAL.get(expression.text), expression.text, found);
        }
    }
}

/** Interfaces that no import names, and where they stand. */
const GLOBAL = new Map([["Abortable", "events"]]);

const read = new Map();

/** The interfaces of a module by name, and what the names of its imported namespaces stand for. */
function declarations(module) {
    const done = read.get(module);
    if (done !== undefined) return done;
    const source = ts.createSourceFile(module, readFileSync(new URL(`${module}.d.ts`, folder), "utf8"), ts.ScriptTarget.Latest);
    const interfaces = new Map();
    const modules = new Map();
    const walk = (node) => {
        if (ts.isInterfaceDeclaration(node)) interfaces.set(node.name.text, [...(interfaces.get(node.name.text) ?? []), node]);
        if (ts.isImportDeclaration(node) && node.importClause?.namedBindings && ts.isNamespaceImport(node.importClause.namedBindings)) {
            modules.set(node.importClause.namedBindings.name.text, node.moduleSpecifier.text.replace(/^node:/, ""));
        }
        ts.forEachChild(node, walk);
    };
    walk(source);
    read.set(module, { interfaces, modules });
    return read.get(module);
}
