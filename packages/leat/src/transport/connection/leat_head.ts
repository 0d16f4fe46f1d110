// The head of a request as the lane carries it: a line each for the method, the target, and the name and value of every field.
import { type Headers } from "../../middleware/message";
import { TransportError } from "../error";

/** Lines that one record can tell. */
const LINES_MAX = 0xffff;
const NOT_ASCII = /[^\x00-\x7f]/;
const NOT_LATIN1 = /[^\x00-\xff]/;

/** Fields as lines. */
interface Fields {
    /** Each begins with a line end. */
    readonly text: string;
    readonly lines: number;
    readonly isAscii: boolean;
}

/** Turns requests to one origin into heads. Keeps the lines of the headers that it saw last, if they cannot change. */
export class Heads {
    readonly #host: string;
    #last: Headers | undefined = undefined;
    #fields: Fields | undefined = undefined;

    constructor(authority: string) {
        this.#host = `\nhost\n${authority}`;
    }

    /**
     * What the headers of a request come to.
     * @throws {TransportError} `request.invalid`
     */
    fields(headers: Headers): Fields {
        if (headers === this.#last && this.#fields !== undefined) return this.#fields;
        const fields = this.#read(headers);
        if (Object.isFrozen(headers)) {
            this.#last = headers;
            this.#fields = fields;
        }
        return fields;
    }

    #read(headers: Headers): Fields {
        let text = headers["host"] === undefined ? this.#host : "";
        let lines = text === "" ? 0 : 2;
        for (const name of Object.keys(headers)) {
            const value = headers[name];
            if (value === undefined) continue;
            if (typeof value === "string") {
                text += `\n${name}\n${value}`;
                lines += 2;
                continue;
            }
            for (const each of value) {
                text += `\n${name}\n${each}`;
                lines += 2;
            }
        }
        if (lines + 2 > LINES_MAX || NOT_LATIN1.test(text)) throw new TransportError("request.invalid", "a header cannot be sent: its chars are at most U+00FF, and there are at most 32,766 headers");
        return { text, lines: lines + 2, isAscii: !NOT_ASCII.test(text) };
    }
}

/** The first two lines of a head. What else may be wrong with them, the engine finds. */
export function requestLines(method: string, path: string): string {
    if (NOT_ASCII.test(path) || NOT_ASCII.test(method)) throw new TransportError("request.invalid", "the path cannot be sent: it is encoded, and so of ASCII alone");
    return `${method}\n${path}`;
}
