// The record of a run: what middleware read, and where the plan keeps how far it is.
import { type Signal } from "./context";
import { MiddlewareError } from "./error";
import { type Request, type Response } from "./message";
import { isOwn } from "./own";
import { type Slot } from "./slot";
import { type Layer, type Sender } from "./layer";

/** What a record needs of its plan. */
export interface Frame {
    readonly layers: readonly Layer[];
    /** All slots; what they hold is at their places in `values`. */
    readonly slots: readonly Slot[];
    /** The first layer of scope `attempt`; their number if there is none. */
    readonly attemptAt: number;
    readonly triesMax: number;
    readonly development: boolean;
    /** Makes the signal of a run that was given none, when it is first asked for. */
    readonly signals: ((request: Request) => Signal | undefined) | undefined;
    /** Takes a record back. */
    over(record: Record): void;
}

/** No layer gave up. */
export const NOBODY = Number.MAX_SAFE_INTEGER;

/** Made once and used by one run after the other. All fields are there from the beginning, so that its shape never changes. */
export class Record {
    /** The request as it stands; `request` is what others read it by. */
    current: Request;
    /** Whether `current` was made in this run, and nobody has seen it yet: then it may be written to. */
    isOwn = false;
    /** With `isOwn`: whether its headers were too. */
    ownsHeaders = false;
    /** The request that one which repeats begins each try with; one middleware of a plan does so by `again`. */
    first: Request | undefined = undefined;
    /** How often what is inside of that one was run. */
    tries = 0;
    response: Response | undefined = undefined;
    error: unknown = undefined;
    attempt = 0;
    /** Aborts the run; `signal` is what others read it by. */
    stop: Signal | undefined = undefined;
    send: Sender;
    /** What middleware are handed: the record, or in development mode what watches it. */
    view: unknown;
    readonly frame: Frame;
    readonly values: unknown[];
    /** Whether `values` has to be emptied. */
    isWritten = false;
    /** The outermost layer that gave up while those inside of it were under way. */
    abandonedAt = NOBODY;
    isOver = false;
    /** The layer whose hook has been called and has not returned yet; known in development mode only. */
    running: Layer | undefined = undefined;

    constructor(frame: Frame, request: Request, send: Sender) {
        this.frame = frame;
        this.current = request;
        this.send = send;
        this.values = new Array<unknown>(frame.slots.length).fill(undefined);
        this.view = frame.development ? watched(this) : this;
        // What a middleware put here would be another run's to see.
        if (!frame.development) Object.preventExtensions(this);
    }

    /** Whoever reads it may keep it, so from then on it is changed in a copy. */
    get request(): Request {
        this.isOwn = false;
        return this.current;
    }

    set request(request: Request) {
        this.isOwn = false;
        this.current = request;
    }

    get signal(): Signal | undefined {
        return (this.stop ??= this.frame.signals?.(this.current));
    }

    get(slot: Slot): unknown {
        const { slots } = this.frame;
        for (let at = 0; at < slots.length; at++) if (slots[at] === slot) return this.values[at];
        throw new MiddlewareError("slot.undeclared", `no middleware of this plan declares the slot "${nameOf(slot)}"; name it in reads, or in writes`);
    }

    /** Writes the slots of a patch, by a layer. */
    set(layer: Layer, patch: Readonly<globalThis.Record<string, unknown>>): void {
        for (const name in patch) {
            if (!isOwn(patch, name)) continue;
            const place = layer.placeOf(name);
            if (place === -1) throw new MiddlewareError("slot.undeclared", `middleware "${layer.name}" sets the slot "${name}", which it does not declare; name it in writes`);
            this.values[place] = patch[name];
            this.isWritten = true;
        }
    }

    /** Forgets all of a run, so that what was kept of it tells nothing, and no memory is held. */
    clear(request: Request, send: Sender): void {
        this.request = request;
        this.send = send;
        this.response = undefined;
        this.error = undefined;
        this.attempt = 0;
        this.first = undefined;
        this.tries = 0;
        this.stop = undefined;
        if (!this.isWritten) return;
        this.isWritten = false;
        const { values } = this;
        for (let at = 0; at < values.length; at++) values[at] = undefined;
    }
}

/** What middleware may read of a record. */
const READABLE: ReadonlySet<PropertyKey> = new Set(["request", "response", "error", "attempt", "tries", "signal", "get"]);

/** A record that refuses every write, slots that a middleware does not declare, and everything once its run is over. */
function watched(record: Record): unknown {
    const refuse = (_record: Record, key: PropertyKey): never => {
        throw new MiddlewareError("record.write", `the record is read-only: "${String(key)}" cannot be set; return a patch from the hook: return { ${PATCHES[String(key)] ?? "set: { … }"} }`);
    };
    const get = (slot: Slot): unknown => {
        alive(record);
        // Known only until the hook waits for something: then another one may be running.
        const { running } = record;
        if (running !== undefined && !running.declares.has(slot)) {
            throw new MiddlewareError("slot.undeclared", `middleware "${running.name}" reads the slot "${nameOf(slot)}", which it does not declare; name it in reads`);
        }
        return record.get(slot);
    };
    return new Proxy(record, {
        get(target, key) {
            alive(target);
            if (key === "get") return get;
            return READABLE.has(key) ? (target as unknown as globalThis.Record<PropertyKey, unknown>)[key] : undefined;
        },
        has(target, key) {
            alive(target);
            return READABLE.has(key);
        },
        set: refuse,
        defineProperty: refuse,
        deleteProperty: refuse,
        setPrototypeOf: (target) => refuse(target, "__proto__"),
        preventExtensions: (target) => refuse(target, "(extensions)"),
    });
}

const PATCHES: Readonly<globalThis.Record<string, string>> = { request: "headers: { … } (or method, path, body)", response: "status: … (or headers, body)", error: "respond: response }, or throw another error: { " };

function alive(record: Record): void {
    if (record.isOver) throw new MiddlewareError("record.kept", "this record's run is over, and without development mode it would be another run's by now; take what is needed out of it before");
}

function nameOf(slot: unknown): string {
    return typeof slot === "object" && slot !== null && "name" in slot ? String(slot.name) : String(slot);
}

/** In development mode nothing that middleware can reach can be written. Bodies are their owners'. */
export function frozen<M extends Request | Response>(message: M, isOwn: boolean): M {
    if (Object.isFrozen(message) && Object.isFrozen(message.headers)) return message;
    // What the caller gave stays as it is; a copy is frozen.
    return isOwn ? Object.freeze(Object.assign(message, { headers: Object.freeze({ ...message.headers }) })) : Object.freeze({ ...message, headers: Object.freeze({ ...message.headers }) });
}
