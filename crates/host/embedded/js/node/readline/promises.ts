// node:readline/promises.
import { Interface as Lines, type Options } from "../../leat/readline";

export class Interface extends Lines {
    // The promise takes the place of the callback.
    override question(query: string): never {
        return new Promise((resolve) => super.question(query, resolve)) as never;
    }
}

export const createInterface = (options: Options, output?: { write(text: string): boolean }): Interface => new Interface(options, output);
