// node:tty: whether a descriptor is a terminal, and what the streams of `process` that are terminals can do.
import { missing } from "../leat/coded";

const { isTerminal } = native("process") as { isTerminal(descriptor: number): boolean };

export const isatty = (fd: unknown): boolean => typeof fd === "number" && Number.isInteger(fd) && fd >= 0 && fd < 2 ** 31 && isTerminal(fd);

type Output = { write(text: string, done?: () => void): boolean };
type Env = Record<string, string | undefined>;

/** Terminals of one's own are not there; those of `process` are. */
export class ReadStream {
    constructor() {
        throw missing("tty.ReadStream", "use process.stdin");
    }
}

export class WriteStream {
    constructor() {
        throw missing("tty.WriteStream", "use process.stdout or process.stderr");
    }

    /** Bits of a colour: 1, 4, 8 or 24, from what the environment says of the terminal. */
    getColorDepth(env: Env = process.env): number {
        const { FORCE_COLOR, NO_COLOR, NODE_DISABLE_COLORS, COLORTERM, TERM = "" } = env;
        if (FORCE_COLOR !== undefined) return { "0": 1, "": 4, "1": 4, true: 4, "2": 8, "3": 24 }[FORCE_COLOR] ?? 1;
        if (NODE_DISABLE_COLORS || NO_COLOR || TERM === "dumb") return 1;
        if (COLORTERM === "truecolor" || COLORTERM === "24bit") return 24;
        return /-256(color)?$/i.test(TERM) ? 8 : TERM !== "" || COLORTERM ? 4 : 1;
    }

    hasColors(count: number | Env = 16, env?: Env): boolean {
        const wanted = typeof count === "number" ? count : 16;
        return wanted <= 2 ** this.getColorDepth(typeof count === "object" ? count : env);
    }

    cursorTo(this: Output, x: number, y?: number | (() => void), done?: () => void): boolean {
        const told = typeof y === "function" ? y : done;
        return this.write(typeof y === "number" ? `\x1b[${y + 1};${x + 1}H` : `\x1b[${x + 1}G`, told);
    }
    moveCursor(this: Output, x: number, y: number, done?: () => void): boolean {
        const across = x === 0 ? "" : x < 0 ? `\x1b[${-x}D` : `\x1b[${x}C`;
        const down = y === 0 ? "" : y < 0 ? `\x1b[${-y}A` : `\x1b[${y}B`;
        return this.write(across + down, done);
    }
    clearLine(this: Output, way: number, done?: () => void): boolean {
        return this.write(way < 0 ? "\x1b[1K" : way > 0 ? "\x1b[0K" : "\x1b[2K", done);
    }
    clearScreenDown(this: Output, done?: () => void): boolean {
        return this.write("\x1b[0J", done);
    }
}
