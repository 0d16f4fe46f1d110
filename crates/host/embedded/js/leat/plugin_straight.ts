// Plans whose hooks the host calls itself, one after the other: those without `around`, `again` and slots. Where a hook returns something
// that the host does not read (a promise, a response), or throws, the walk goes on from there, with the same record.
import { type Frame, type Layer, type Plan, Record, type Request } from "./plan";

/** The record that middleware are handed; the host's, and behind it, where the walk goes on, that of the walk. */
export interface Straight {
    [walked]: Record;
}

/** Under which a record of the host's has that of the walk. */
export const walked: unique symbol = Symbol("leat.walked");

/** A layer as the host has it. */
export type StraightLayer = readonly [owner: unknown, onRequest: unknown, onResponse: unknown, onComplete: unknown, outer: number];

/** More would only wait for the next time that so many requests wait at once. */
const SPARE_MAX = 64;

const NO_REQUEST: Request = Object.freeze({ method: "", path: "", headers: Object.freeze({}) });
const noSender = (): never => {
    throw new Error("a record without a run");
};

/** What a record tells whose run is over. */
const none = new Record({ layers: [], slots: [], attemptAt: 0, triesMax: 1, development: false, signals: undefined, over: noSender }, NO_REQUEST, noSender);

/** Records of the walk for one plan. */
class Records implements Frame {
    readonly layers: readonly Layer[];
    readonly slots = [];
    readonly attemptAt: number;
    readonly triesMax: number;
    readonly development = false;
    readonly signals: Frame["signals"];
    private readonly spare: Record[] = [];

    constructor(plan: Frame) {
        this.layers = plan.layers;
        this.attemptAt = plan.attemptAt;
        this.triesMax = plan.triesMax;
        this.signals = plan.signals;
    }

    take(of: Straight, request: Request, send: Record["send"], attempt: number): Record {
        const record = this.spare.pop() ?? new Record(this, request, send);
        record.request = request;
        record.send = send;
        record.attempt = attempt;
        record.isOver = false;
        record.view = of;
        of[walked] = record;
        return record;
    }

    over(record: Record): void {
        record.isOver = true;
        (record.view as Straight)[walked] = none;
        record.clear(NO_REQUEST, noSender);
        if (this.spare.length < SPARE_MAX) this.spare.push(record);
    }
}

export type { Records };

/** The records of a plan that the host may run; undefined where the walk has to. */
export function straight(plan: Plan): Records | undefined {
    const compiled = plan as Plan & Frame;
    if (compiled.slots.length > 0 || compiled.layers.some(({ around, again }) => around !== undefined || again !== undefined)) return undefined;
    return new Records(compiled);
}

export function layersOf({ layers }: Records): readonly StraightLayer[] {
    return layers.map(({ owner, onRequest, onResponse, onComplete, outer }) => [owner, onRequest, onResponse, onComplete, outer]);
}

/** Makes the prototype of the host's records whole. */
export function finish(prototype: object): void {
    const get = (slot: unknown): unknown => none.get(slot as never);
    Object.defineProperty(prototype, "get", { value: get });
}

/** One of the host's, with all properties of its own that it ever has: by others it is known that a plug-in put something there. */
export function furnished(of: Straight): Straight {
    return Object.defineProperty(of, walked, { value: none, writable: true });
}
