// node:fs with callbacks and with promises.
const fs = require("fs");
const fsp = require("fs/promises");
const os = require("os");
const path = require("path");
const { promisify } = require("util");

async function main() {
    const root = await fsp.mkdtemp(path.join(os.tmpdir(), "leat-fsp-"));
    const at = (...parts) => path.join(root, ...parts);
    const shown = (text) => String(text).replaceAll(root, "ROOT");
    const told = (error) => `${error.name} ${error.code} ${error.errno} ${error.syscall} ${error.path && shown(error.path)} ${shown(error.message)}`;
    const call = (name, ...given) => new Promise((resolve) => fs[name](...given, (...answer) => resolve(console.log(name, answer.length, shown(answer.map((value) => (value instanceof Error ? told(value) : JSON.stringify(value))))))));
    const wait = async (name, promise) => {
        try {
            const value = await promise;
            console.log(name, shown(JSON.stringify(value)));
        } catch (error) {
            console.log(name, "rejects", told(error));
        }
    };
    console.log(fs.promises === fsp, fsp.constants === fs.constants);
    await call("writeFile", at("a"), "hello");
    await call("appendFile", at("a"), "!");
    await call("readFile", at("a"));
    await call("readFile", at("a"), "utf8");
    await call("readFile", at("none"));
    await call("readFile", at("none"), { encoding: "utf8" });
    await call("access", at("a"));
    await call("access", at("none"), fs.constants.R_OK);
    await call("mkdir", at("d", "e"), { recursive: true });
    await call("readdir", root);
    await call("rename", at("a"), at("b"));
    await call("copyFile", at("b"), at("c"));
    await call("unlink", at("none"));
    await call("symlink", "b", at("l"));
    await call("readlink", at("l"));
    await call("truncate", at("c"), 2);
    await call("truncate", at("none"));
    await call("rmdir", at("d"));
    await call("rm", at("d"), { recursive: true });
    await call("open", at("none"), "r");
    await call("opendir", at("none"));
    await call("chmod", at("b"), 0o600);
    await call("utimes", at("b"), 1, 2);
    await new Promise((resolve) => fs.exists(at("b"), (found) => resolve(console.log("exists", found))));
    console.log(await promisify(fs.exists)(at("none")));
    fs.stat(at("b"), (error, stats) => console.log("stat", error, stats.size, stats.mtimeMs));
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (const work of [() => fs.readFile(at("b")), () => fs.stat(), () => fs.readFile(1.5, () => {}), () => fs.open(at("b"), "r", "9", () => {}), () => fs.writeFile(at("b"), 1, () => {})]) {
        try {
            work();
        } catch (error) {
            console.log(error.name, error.code, shown(error.message));
        }
    }
    const { bytesRead, buffer } = await promisify(fs.read)(fs.openSync(at("b")), Buffer.alloc(4), 0, 4, 0);
    console.log(bytesRead, buffer.toString());

    await wait("readFile", fsp.readFile(at("b"), "utf8"));
    await wait("readFile", fsp.readFile(at("none")));
    await wait("stat", fsp.stat(at("b")).then((stats) => [stats.size, stats.isFile()]));
    await wait("writeFile", fsp.writeFile(at("w"), Buffer.from("bytes")));
    await wait("writeFile iterable", fsp.writeFile(at("it"), (function* () { yield "a"; yield "b"; })()));
    await wait("read it", fsp.readFile(at("it"), { encoding: "utf8" }));
    await wait("mkdir", fsp.mkdir(at("m")));
    await wait("mkdir", fsp.mkdir(at("m")));
    await wait("readdir", fsp.readdir(root, { withFileTypes: true }).then((entries) => entries.map((entry) => [entry.name, entry.isFile()])));
    await wait("realpath", fsp.realpath(at("none")));
    await wait("access", fsp.access(at("none")));
    await wait("rm", fsp.rm(at("none")));
    await wait("rm", fsp.rm(at("none"), { force: true }));
    await wait("bad path", fsp.readFile({}));
    await wait("cp", fsp.cp(at("m"), at("m2"), { recursive: true }));

    const handle = await fsp.open(at("h"), "w+");
    console.log(typeof handle.fd, handle.fd > 2);
    await wait("write", handle.write("hello"));
    await wait("write", handle.write(Buffer.from("abc"), 1, 2, 0).then(({ bytesWritten }) => bytesWritten));
    await wait("read", handle.read(Buffer.alloc(8), 0, 8, 0).then(({ bytesRead: count, buffer: bytes }) => [count, bytes.toString()]));
    await wait("stat", handle.stat().then(({ size }) => size));
    await wait("truncate", handle.truncate(2));
    await wait("writev", handle.writev([Buffer.from("x"), Buffer.from("y")], 0).then(({ bytesWritten }) => bytesWritten));
    await wait("sync", handle.sync());
    await handle.close();
    await wait("readFile", fsp.readFile(at("h"), "utf8"));
    await wait("closed", handle.stat());
    console.log(handle.fd);
    const names = [];
    for await (const entry of await fsp.opendir(root)) names.push(entry.name);
    console.log(names.sort());
    const stats = await new Promise((resolve) => {
        fs.watchFile(at("watched"), { interval: 10 }, (now, before) => resolve([now.size, before.size]));
    });
    console.log(stats);
    fs.unwatchFile(at("watched"));
    await fsp.rm(root, { recursive: true });
}
main();
