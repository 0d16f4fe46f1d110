const path = require("path");
const { win32, posix } = path;
console.log(path.sep, path.delimiter, win32.sep, win32.delimiter, path === posix, require("node:path/posix") === path, require("path/win32") === win32);
const texts = ["", ".", "..", "/", "//", "a", "a/", "/a/b", "a/b/../c", "./a", "../a", "/..", "a//b/./c", "a.b", ".a", "a.", "..a", "a.b.c", "/a.b/c", "a/..", "/a/b/", "...", "a/.b.c/"];
for (const text of texts) {
    console.log(JSON.stringify(text), path.normalize(text), path.dirname(text), path.basename(text), path.extname(text), path.isAbsolute(text), JSON.stringify(path.parse(text)), path.resolve("/r", text));
    for (const other of texts) console.log(" ", path.join(text, other), path.relative(`/${text}`, `/${other}`), path.basename(text, other));
}
for (const text of ["C:\\a\\b", "C:a", "\\\\server\\share\\x", "c:/a/../b", "a\\b", "\\a", "C:\\", ""]) {
    console.log(JSON.stringify(text), win32.normalize(text), win32.dirname(text), win32.basename(text), win32.extname(text), win32.isAbsolute(text), JSON.stringify(win32.parse(text)), win32.join(text, "..", "z.txt"));
}
console.log(win32.resolve("C:\\a", "..\\b"), win32.relative("C:\\a\\b", "C:\\a\\c\\d"));
console.log(path.format({ dir: "/a", base: "b.c" }), path.format({ root: "/", name: "x", ext: "y" }), path.format({}));
for (const wrong of [undefined, null, 5, {}, true]) {
    for (const name of ["join", "resolve", "normalize", "basename", "dirname", "extname", "isAbsolute", "parse", "format", "relative"]) {
        try {
            console.log(path[name](wrong));
        } catch (error) {
            console.log(name, error.name, error.code, error.message.replace("paths[0]", "path"));
        }
    }
}
