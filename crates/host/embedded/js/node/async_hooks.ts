// node:async_hooks. AsyncLocalStorage and AsyncResource are whole; hooks on the making of resources see AsyncResources alone, and
// the numbers of what runs are theirs.
import { begin, type Context, current, enter, runIn } from "../leat/context";
import { coded, codes } from "../leat/errors";
import { contexts } from "../leat/turn";
import { validateFunction, validateObject, validateString } from "../leat/validate";

type Run = (...args: unknown[]) => unknown;

/** What a storage gives where nothing was stored. */
interface StorageOptions {
    readonly defaultValue?: unknown;
    readonly name?: string;
}

class AsyncLocalStorage<T> {
    readonly #default: unknown;
    readonly name: string | undefined;
    #enabled = false;

    constructor(options?: StorageOptions) {
        if (options !== undefined) validateObject(options, "options");
        this.#default = options?.defaultValue;
        if (options?.name !== undefined) this.name = `${options.name}`;
        begin();
    }

    static bind(run: Run): Run {
        return AsyncResource.bind(run);
    }

    static snapshot(): (run: Run, ...args: unknown[]) => unknown {
        return AsyncLocalStorage.bind((run, ...args) => (run as Run)(...args)) as (run: Run, ...args: unknown[]) => unknown;
    }

    #with(store: T): Context {
        this.#enabled = true;
        return new Map(current()).set(this, store);
    }

    run<R>(store: T, run: (...args: unknown[]) => R, ...args: unknown[]): R {
        return runIn(this.#with(store), () => run(...args));
    }

    exit<R>(run: (...args: unknown[]) => R, ...args: unknown[]): R {
        const without = new Map(current());
        without.delete(this);
        return runIn(without, () => run(...args));
    }

    enterWith(store: T): void {
        enter(this.#with(store));
    }

    getStore(): T | undefined {
        if (!this.#enabled) return this.#default as T | undefined;
        const context = current();
        return (context?.has(this) ? context.get(this) : this.#default) as T | undefined;
    }

    disable(): void {
        this.#enabled = false;
        const without = new Map(current());
        without.delete(this);
        enter(without);
    }

    _enable(): void {
        this.#enabled = true;
    }
}

interface Callbacks {
    readonly init?: (id: number, type: string, trigger: number, resource: object) => void;
    readonly before?: (id: number) => void;
    readonly after?: (id: number) => void;
    readonly destroy?: (id: number) => void;
    readonly promiseResolve?: (id: number) => void;
}

/** What runs outside of every resource. */
const TOP = 1;
let lastId = TOP;
let runningId = TOP;
let runningTrigger = 0;
let running: object = {};
const hooks = new Set<Callbacks>();

interface ResourceOptions {
    readonly triggerAsyncId?: number;
    readonly requireManualDestroy?: boolean;
}

class AsyncResource {
    readonly #id = ++lastId;
    readonly #trigger: number;
    readonly #context: Context;
    #destroyed = false;

    constructor(type: string, options: ResourceOptions | number = {}) {
        validateString(type, "type");
        const trigger = typeof options === "number" ? options : (options.triggerAsyncId ?? runningId);
        if (!Number.isSafeInteger(trigger) || trigger < -1) throw coded(new RangeError(`Invalid triggerAsyncId value: ${trigger}`), "ERR_INVALID_ASYNC_ID");
        this.#trigger = trigger;
        this.#context = contexts.used === undefined ? undefined : current();
        for (const hook of hooks) hook.init?.(this.#id, type, trigger, this);
    }

    static bind(run: Run, type?: string, self?: unknown): Run {
        validateFunction(run, "fn");
        return new AsyncResource(type || run.name || "bound-anonymous-fn").bind(run, self);
    }

    bind(run: Run, self?: unknown): Run {
        validateFunction(run, "fn");
        const resource = this;
        const bound =
            self === undefined
                ? function (this: unknown, ...args: unknown[]) {
                      return resource.runInAsyncScope(run, this, ...args);
                  }
                : (...args: unknown[]) => resource.runInAsyncScope(run, self, ...args);
        return Object.defineProperty(bound, "length", { value: run.length, configurable: true, enumerable: false, writable: false });
    }

    runInAsyncScope<R>(run: (...args: never[]) => R, self?: unknown, ...args: unknown[]): R {
        const before = [runningId, runningTrigger, running] as const;
        runningId = this.#id;
        runningTrigger = this.#trigger;
        running = this;
        for (const hook of hooks) hook.before?.(this.#id);
        try {
            const call = (): R => Reflect.apply(run as unknown as (...args: unknown[]) => R, self, args);
            return contexts.used === undefined ? call() : runIn(this.#context, call);
        } finally {
            for (const hook of hooks) hook.after?.(this.#id);
            [runningId, runningTrigger, running] = before;
        }
    }

    emitDestroy(): this {
        if (!this.#destroyed) {
            this.#destroyed = true;
            for (const hook of hooks) hook.destroy?.(this.#id);
        }
        return this;
    }

    asyncId(): number {
        return this.#id;
    }

    triggerAsyncId(): number {
        return this.#trigger;
    }
}

function createHook(callbacks: Callbacks): { enable(): object; disable(): object } {
    for (const name of ["init", "before", "after", "destroy", "promiseResolve"] as const) {
        const callback = callbacks[name];
        if (callback !== undefined && typeof callback !== "function") throw new codes.ERR_ASYNC_CALLBACK(`hook.${name}`);
    }
    const hook = {
        enable() {
            hooks.add(callbacks);
            return hook;
        },
        disable() {
            hooks.delete(callbacks);
            return hook;
        },
    };
    return hook;
}

module.exports = {
    AsyncLocalStorage,
    createHook,
    executionAsyncId: () => runningId,
    triggerAsyncId: () => runningTrigger,
    executionAsyncResource: () => running,
    asyncWrapProviders: Object.freeze(Object.create(null) as object),
    AsyncResource,
};
