// What one case showed: its log, what it was still waiting for, and whatever went wrong around it.
import { inspect } from "node:util";

/** The ordered log of a case. It takes no more lines once it is sealed, so that taking a case down is not part of it. */
export class Record {
    lines = [];
    #sealed = false;
    #touched;

    constructor(touched) {
        this.#touched = touched;
    }

    add(...values) {
        if (!this.#sealed) this.take(line(...values));
    }

    /** A line that was made elsewhere. */
    take(made) {
        if (this.#sealed) return;
        this.lines.push(made);
        this.#touched();
    }

    count(text) {
        return this.lines.filter((line) => line.includes(text)).length;
    }

    seal() {
        this.#sealed = true;
    }
}

/** Values as one line. */
export const line = (...values) => values.map(show).join(" ").replace(/[\r\n]/g, (char) => (char === "\r" ? "\\r" : "\\n"));

function show(value) {
    if (typeof value === "string") return value;
    if (value instanceof Error) return showError(value);
    if (Buffer.isBuffer(value)) return JSON.stringify(value.toString("latin1"));
    return inspect(value, { breakLength: Infinity, compact: true, depth: 5, maxArrayLength: 200, maxStringLength: 2000 });
}

function showError(error) {
    const code = error.code === undefined ? "" : ` [${error.code}]`;
    return `${error.constructor?.name ?? error.name}${code}: ${error.message}`;
}

const DATE = /(date: )([A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT)(?=\r\n)/gi;
const CLOCK_SLACK_MS = 60_000;

/** Bytes from the wire as text; a Date that is of this minute and well formed becomes `<now>`, any other one stays. */
export function normalised(bytes) {
    return bytes.replace(DATE, (all, name, date) => (Math.abs(Date.parse(date) - Date.now()) < CLOCK_SLACK_MS ? `${name}<now>` : all));
}
