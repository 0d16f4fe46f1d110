// node:readline.
import { Interface, type Options } from "../leat/readline";
import { missing } from "../leat/coded";

const custom = Symbol.for("nodejs.util.promisify.custom");
Object.defineProperty(Interface.prototype.question, custom, {
    value(this: Interface, query: string) {
        return new Promise((resolve) => this.question(query, resolve));
    },
});

type Stream = Record<string, (...given: unknown[]) => boolean>;
/** What moves the cursor is the terminal's own method. */
const screen = (name: string) => (stream: Stream, ...given: unknown[]) => {
    const { WriteStream } = require("node:tty") as { WriteStream: { prototype: Stream } };
    return WriteStream.prototype[name]?.apply(stream, given) ?? true;
};

module.exports = {
    Interface,
    createInterface: (options: Options, output?: { write(text: string): boolean }) => new Interface(options, output),
    clearLine: screen("clearLine"),
    clearScreenDown: screen("clearScreenDown"),
    cursorTo: screen("cursorTo"),
    moveCursor: screen("moveCursor"),
    emitKeypressEvents() {
        throw missing("readline.emitKeypressEvents");
    },
    get promises() {
        return require("./readline/promises") as unknown;
    },
};
