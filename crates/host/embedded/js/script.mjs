// Makes the script of a built-in module from what esbuild bundled: the same module, for less work when it starts. To QuickJS a function
// that is made is 2,000 instructions, and a byte of bytecode that is read 24.

/** The text between the braces of the module's function. */
export function script(text) {
    return withoutHelpers(late(joined(settled(named(text))))).replace(/^"use strict";\n/, "");
}

/** A class that speaks of itself is `X = class _X` to esbuild: here both have one name, since programs see it. */
function named(text) {
    for (const [, name] of text.matchAll(/\b([\w$]+) = class _\1\b/g)) text = text.replace(new RegExp(`(?<![.\\w$])_${name.replaceAll("$", "\\$")}\\b`, "g"), name);
    return text;
}

const EXPORTS = /^var (\w+) = \{\};\n__export\(\1, \{\n((?: {2}.*\n)*?)\}\);\nmodule\.exports = __toCommonJS\(\1\);\n/m;
const ANNOTATION = /^\/\/ Annotate the CommonJS export names for ESM import in node:\n0 && \(module\.exports = \{[^}]*\}\);\n/m;
const REQUIRED = /^var \w+ = (?:__toESM\()?require\(/;

/**
 * The same script, whose exports are plain properties. esbuild makes each a getter that calls a getter, for names that are assigned
 * again: no entry exports one that is. Functions are there from the start, as with esbuild; the rest is when the script has run, and
 * before each module that it requires further down, since that one may require this one.
 */
function settled(text) {
    const found = EXPORTS.exec(text);
    if (found === null) return text;
    const [whole, object, list] = found;
    const exported = [...list.matchAll(/^ {2}([\w$]+): \(\) => ([\w$.]+),?$/gm)].map(([, name, value]) => ({ name, value }));
    if (exported.length !== list.trimEnd().split("\n").length) throw new Error(`exports that are not understood: ${list}`);
    const hoisted = new Set([...text.matchAll(/^(?:async )?function\*? ?([\w$]+)\(/gm)].map(([, name]) => name));
    const fields = exported.map(({ name, value }) => `${name}: ${hoisted.has(value) ? value : "void 0"}`);
    const start = `var ${object} = { ${fields.join(", ")} };\nObject.defineProperty(${object}, "__esModule", { value: true });\nmodule.exports = ${object};\n`;
    const put = ({ name, value }) => `${object}.${name} = ${value};\n`;
    // What a line of the script declares is there from the next line on.
    let waiting = exported.filter(({ value }) => !hoisted.has(value));
    const all = waiting;
    let out = "";
    for (const line of text.slice(found.index + whole.length).replace(ANNOTATION, "").split("\n")) {
        if (REQUIRED.test(line)) {
            const declared = waiting.filter(({ value }) => !waits(out, value));
            out += declared.map(put).join("");
            waiting = waiting.filter((one) => !declared.includes(one));
        }
        out += `${line}\n`;
    }
    return text.slice(0, found.index) + start + out + all.map(put).join("");
}

/** Whether the script so far has not come to the declaration of what is exported. */
function waits(soFar, value) {
    const name = value.split(".")[0].replaceAll("$", "\\$");
    return !new RegExp(`^var [^=]*(?<![.\\w$])${name}(?![\\w$])`, "m").test(soFar);
}

/**
 * The same script, where a module of CommonJS that is imported as a whole is not copied: what stands for it has the module as
 * `default`, and inherits its names.
 */
function joined(text) {
    return text.replace(/^var __toESM = [\s\S]*?\n\)\);\n/m, "var __toESM = (mod, isNodeMode) => (isNodeMode || !mod.__esModule ? Object.create(mod, { default: { value: mod, enumerable: true } }) : mod);\n");
}

/** Built-ins that most programs never come to use, though what they use names them at its top: loaded at their first use. */
const LATE = new Set(["node:crypto", "node:diagnostics_channel", "node:dns", "node:fs", "node:net", "node:os", "node:path", "node:querystring", "node:tty", "node:url", "node:util", "node:zlib"]);

/** The same script, which requires those where they are used. esbuild writes every use of an import as a property of its name. */
function late(text) {
    let out = text;
    let any = false;
    for (const [whole, name, required, id] of text.matchAll(/(?<![.\w$])([a-z]\w*) = ((?:__toESM\()?require\("([^"]+)"\)\)?)(?=[,;])/g)) {
        if (!LATE.has(id)) continue;
        // Handed on as a whole, or assigned to: it is needed at once.
        const uses = out.replace(whole, `${name} =`).split(new RegExp(`\\b${name}\\b`)).length - 1;
        const plain = out.split(new RegExp(`(?<![.\\w$])${name}\\.(?=\\w)`)).length - 1;
        const declared = new RegExp(`^\\s*var [^;=()]*\\b${name}\\b[^=;()]*;`, "m").test(out) ? 1 : 0;
        if (uses !== plain + 1 + declared) continue;
        out = out.replaceAll(new RegExp(`(?<![.\\w$])${name}\\.(?=\\w)`, "g"), `${name}().`).replace(whole, `${name} = __late(() => ${required})`);
        any = true;
    }
    return any ? `var __late = (load) => { let value; return () => (value ??= load()); };\n${out}` : text;
}

/** The same script without those helpers of esbuild's that nothing in it uses. */
function withoutHelpers(text) {
    for (let before; before !== text; ) {
        before = text;
        for (const [whole, name] of text.matchAll(/^var (__\w+) = .*\n(?:(?!var |\/\/ |module|function|\(|const |let |class |import|0 ).*\S.*\n)*/gm)) {
            if (text.split(new RegExp(`(?<![\\w$])${name}(?![\\w$])`)).length === whole.split(new RegExp(`(?<![\\w$])${name}(?![\\w$])`)).length) text = text.replace(whole, () => "");
        }
    }
    return text;
}
