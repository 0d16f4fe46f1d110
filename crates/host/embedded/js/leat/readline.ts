// Lines of a stream. There is no editing here: a terminal sends its lines whole.
import { EventEmitter } from "node:events";
import { codes } from "./errors";
import { validateFunction, validateString } from "./validate";

interface Input extends NodeJS.EventEmitter {
    pause(): void;
    resume(): void;
}
interface Output {
    write(text: string): boolean;
}
export interface Options {
    input: Input;
    output?: Output;
    prompt?: string;
    crlfDelay?: number;
    signal?: AbortSignal;
    terminal?: boolean;
}

/** Characters of one line: more is given as a line of its own. */
const LINE_MAX = 1 << 26;
const END = /\r\n|\n|\r/;

export class Interface extends EventEmitter {
    readonly input: Input;
    readonly output: Output | undefined;
    readonly terminal = false;
    line = "";
    cursor = 0;
    closed = false;
    #prompt: string;
    #decoder: import("node:string_decoder").StringDecoder;
    #rest = "";
    #afterReturn = false;
    #question: ((answer: string) => void) | undefined;
    #paused = false;
    readonly #data = (chunk: Uint8Array | string): void => this.#take(typeof chunk === "string" ? chunk : this.#decoder.write(chunk as Buffer));
    readonly #end = (): void => {
        this.#take(this.#decoder.end());
        if (this.#rest !== "") this.#tell(this.#rest);
        this.#rest = "";
        this.close();
    };

    constructor(options: Options | Input, output?: Output) {
        super();
        const given = (options as Options).input === undefined ? { input: options as Input, ...(output === undefined ? {} : { output }) } : (options as Options);
        const { StringDecoder } = require("node:string_decoder") as typeof import("node:string_decoder");
        this.#decoder = new StringDecoder("utf8");
        this.input = given.input;
        this.output = given.output;
        this.#prompt = given.prompt ?? "> ";
        this.input.on("data", this.#data);
        this.input.on("end", this.#end);
        const { signal } = given;
        if (signal?.aborted) process.nextTick(() => this.close());
        else signal?.addEventListener("abort", () => this.close(), { once: true });
        this.input.resume();
    }

    #take(text: string): void {
        // A line feed may come apart from the carriage return before it.
        if (this.#afterReturn && text.startsWith("\n")) text = text.slice(1);
        if (text !== "") this.#afterReturn = text.endsWith("\r");
        const lines = (this.#rest + text).split(END);
        this.#rest = lines.pop() ?? "";
        for (const line of lines) this.#tell(line);
        if (this.#rest.length > LINE_MAX) {
            this.#tell(this.#rest);
            this.#rest = "";
        }
    }

    #tell(line: string): void {
        const question = this.#question;
        if (question === undefined) return void this.emit("line", line);
        this.#question = undefined;
        question(line);
    }

    #open(): void {
        if (this.closed) throw new codes.ERR_USE_AFTER_CLOSE("readline");
    }

    getPrompt(): string {
        return this.#prompt;
    }
    setPrompt(prompt: string): void {
        this.#prompt = prompt;
    }
    prompt(): void {
        if (this.#paused) this.resume();
        this.output?.write(this.#prompt);
    }

    question(query: string, options: unknown, callback?: unknown): void {
        this.#open();
        validateString(query, "query");
        const told = typeof options === "function" ? options : callback;
        validateFunction(told, "cb");
        this.#question = told as (answer: string) => void;
        this.output?.write(query);
        if (this.#paused) this.resume();
    }

    write(text: unknown): void {
        this.#open();
        if (text !== undefined && text !== null) this.#take(String(text));
    }

    pause(): this {
        if (this.#paused) return this;
        this.input.pause();
        this.#paused = true;
        this.emit("pause");
        return this;
    }
    resume(): this {
        if (!this.#paused) return this;
        this.input.resume();
        this.#paused = false;
        this.emit("resume");
        return this;
    }

    close(): void {
        if (this.closed) return;
        this.pause();
        this.closed = true;
        this.input.removeListener("data", this.#data);
        this.input.removeListener("end", this.#end);
        this.emit("close");
    }

    async *[Symbol.asyncIterator](): AsyncGenerator<string, void> {
        const lines: string[] = [];
        let wake: (() => void) | undefined;
        const told = (line: string): void => {
            lines.push(line);
            wake?.();
        };
        const over = (): void => wake?.();
        this.on("line", told);
        this.on("close", over);
        try {
            for (;;) {
                const line = lines.shift();
                if (line !== undefined) yield line;
                else if (this.closed) return;
                else await new Promise<void>((resolve) => (wake = resolve));
            }
        } finally {
            this.removeListener("line", told);
            this.removeListener("close", over);
            this.close();
        }
    }
}
