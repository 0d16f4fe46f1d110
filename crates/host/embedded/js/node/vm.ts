// node:vm as far as this world reaches: scripts that run in its own globals. Contexts of their own are refused.
import { missing } from "../leat/coded";
import { validateString } from "../leat/validate";

const run = globalThis.eval as (code: string) => unknown;
const refused = (): never => {
    throw missing("contexts of node:vm of their own");
};

class Script {
    readonly #code: string;

    constructor(code: unknown) {
        this.#code = String(code);
    }
    runInThisContext(): unknown {
        return run(this.#code);
    }
    runInContext(): never {
        return refused();
    }
    runInNewContext(): never {
        return refused();
    }
    createCachedData(): never {
        throw missing("cached data of node:vm");
    }
}

module.exports = {
    Script,
    createScript: (code: unknown) => new Script(code),
    runInThisContext(code: unknown) {
        validateString(code, "code");
        return run(code);
    },
    isContext: () => false,
    createContext: refused,
    runInContext: refused,
    runInNewContext: refused,
    compileFunction(code: unknown, params: string[] = []) {
        validateString(code, "code");
        return new Function(...params, code);
    },
};
