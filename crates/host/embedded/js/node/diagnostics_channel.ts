// node:diagnostics_channel.
import { codes } from "../leat/errors";
import { failures, nextTick } from "../leat/turn";
import { trace } from "../leat/traced";
import { validateFunction } from "../leat/validate";

type Name = string | symbol;
type Listener = (message: unknown, name: Name) => void;
type Run = (...args: unknown[]) => unknown;

interface Store {
    run(value: unknown, run: () => unknown): unknown;
}

class Channel {
    readonly #listeners: Listener[] = [];
    readonly #stores = new Map<Store, ((message: unknown) => unknown) | undefined>();

    /** Plain data, since who publishes asks for it each time. */
    hasSubscribers = false;

    constructor(readonly name: Name) {
        Object.defineProperty(this, "hasSubscribers", { enumerable: false });
    }

    #count(): void {
        this.hasSubscribers = this.#listeners.length > 0 || this.#stores.size > 0;
    }

    subscribe(listener: Listener): void {
        validateFunction(listener, "subscription");
        this.#listeners.push(listener);
        this.#count();
        heard(this.name);
    }

    unsubscribe(listener: Listener): boolean {
        const at = this.#listeners.indexOf(listener);
        if (at < 0) return false;
        this.#listeners.splice(at, 1);
        this.#count();
        return true;
    }

    bindStore(store: Store, transform?: (message: unknown) => unknown): void {
        this.#stores.set(store, transform);
        this.#count();
        heard(this.name);
    }

    unbindStore(store: Store): boolean {
        const was = this.#stores.delete(store);
        this.#count();
        return was;
    }

    publish(message: unknown): void {
        for (const listener of [...this.#listeners]) {
            try {
                listener(message, this.name);
            } catch (error) {
                nextTick(() => failures.uncaught(error));
            }
        }
    }

    runStores(message: unknown, run: Run, self?: unknown, ...args: unknown[]): unknown {
        let next = (): unknown => {
            this.publish(message);
            return Reflect.apply(run, self, args);
        };
        for (const [store, transform] of this.#stores) {
            const inner = next;
            next = () => {
                let value = message;
                if (transform !== undefined) {
                    try {
                        value = transform(message);
                    } catch (error) {
                        nextTick(() => failures.uncaught(error));
                        return inner();
                    }
                }
                return store.run(value, inner);
            };
        }
        return next();
    }
}

/** Servers publish only once somebody listens. */
function heard(name: Name): void {
    if (typeof name === "string" && name.startsWith("http.server.")) trace(channel);
}

const channels = new Map<Name, Channel>();

function channel(name: Name): Channel {
    if (typeof name !== "string" && typeof name !== "symbol") throw new codes.ERR_INVALID_ARG_TYPE("channel", ["string", "symbol"], name);
    let found = channels.get(name);
    if (found === undefined) {
        found = new Channel(name);
        channels.set(name, found);
    }
    return found;
}

const STEPS = ["start", "end", "asyncStart", "asyncEnd", "error"] as const;
type Steps = Record<(typeof STEPS)[number], Channel>;
type Context = Record<string, unknown>;

class TracingChannel {
    readonly start!: Channel;
    readonly end!: Channel;
    readonly asyncStart!: Channel;
    readonly asyncEnd!: Channel;
    readonly error!: Channel;

    constructor(name: string | Steps) {
        for (const step of STEPS) {
            const value = typeof name === "string" ? channel(`tracing:${name}:${step}`) : name[step];
            Object.defineProperty(this, step, { value, enumerable: true, configurable: true });
        }
    }

    get hasSubscribers(): boolean {
        return STEPS.some((step) => this[step].hasSubscribers);
    }

    subscribe(handlers: Partial<Record<(typeof STEPS)[number], Listener>>): void {
        for (const step of STEPS) if (handlers[step]) this[step].subscribe(handlers[step]);
    }

    unsubscribe(handlers: Partial<Record<(typeof STEPS)[number], Listener>>): boolean {
        let done = true;
        for (const step of STEPS) if (handlers[step] && !this[step].unsubscribe(handlers[step])) done = false;
        return done;
    }

    traceSync(run: Run, context: Context = {}, self?: unknown, ...args: unknown[]): unknown {
        if (!this.hasSubscribers) return Reflect.apply(run, self, args);
        return this.start.runStores(context, () => {
            try {
                return (context["result"] = Reflect.apply(run, self, args));
            } catch (error) {
                context["error"] = error;
                this.error.publish(context);
                throw error;
            } finally {
                this.end.publish(context);
            }
        });
    }

    tracePromise(run: Run, context: Context = {}, self?: unknown, ...args: unknown[]): unknown {
        if (!this.hasSubscribers) return Reflect.apply(run, self, args);
        const settled = <T>(name: string, value: T): T => {
            context[name] = value;
            if (name === "error") this.error.publish(context);
            this.asyncStart.publish(context);
            this.asyncEnd.publish(context);
            return value;
        };
        return this.start.runStores(context, () => {
            try {
                return Promise.resolve(Reflect.apply(run, self, args)).then(
                    (result) => settled("result", result),
                    (error: unknown) => {
                        throw settled("error", error);
                    },
                );
            } catch (error) {
                context["error"] = error;
                this.error.publish(context);
                throw error;
            } finally {
                this.end.publish(context);
            }
        });
    }

    traceCallback(run: Run, position = -1, context: Context = {}, self?: unknown, ...args: unknown[]): unknown {
        if (!this.hasSubscribers) return Reflect.apply(run, self, args);
        const at = position < 0 ? args.length + position : position;
        const callback = args[at];
        validateFunction(callback, "callback");
        const { asyncStart, asyncEnd, error: failed } = this;
        args[at] = function (this: unknown, ...values: unknown[]): unknown {
            if (values[0]) {
                context["error"] = values[0];
                failed.publish(context);
            } else context["result"] = values[1];
            return asyncStart.runStores(context, () => {
                try {
                    return Reflect.apply(callback as Run, this, values);
                } finally {
                    asyncEnd.publish(context);
                }
            });
        };
        return this.start.runStores(context, () => {
            try {
                return Reflect.apply(run, self, args);
            } catch (error) {
                context["error"] = error;
                this.error.publish(context);
                throw error;
            } finally {
                this.end.publish(context);
            }
        });
    }
}

module.exports = {
    channel,
    hasSubscribers: (name: Name): boolean => channels.get(name)?.hasSubscribers ?? false,
    subscribe: (name: Name, listener: Listener): void => channel(name).subscribe(listener),
    unsubscribe: (name: Name, listener: Listener): boolean => channel(name).unsubscribe(listener),
    tracingChannel: (name: string | Steps): TracingChannel => new TracingChannel(name),
    Channel,
};
