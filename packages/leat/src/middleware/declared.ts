// The slots of a plan: every one that is read is written, and no two write one without an order between them.
import { MiddlewareError } from "./error";
import { type Middleware } from "./middleware";
import { type Order } from "./order";
import { type Slot } from "./slot";

/** The places of slots in a record. */
export type Places = ReadonlyMap<Slot, number>;

/**
 * Gives each slot its place.
 * @throws {MiddlewareError} `plan.slot`, `plan.duplicate`
 */
export function declared(order: Order, provided: readonly Slot[]): Places {
    const places = new Map<Slot, number>();
    const names = new Map<string, Slot>();
    const place = (slot: Slot, who: string): void => {
        const other = names.get(slot.name);
        if (other !== undefined && other !== slot) {
            throw new MiddlewareError("plan.duplicate", `${who} has a slot "${slot.name}" that is another than the "${slot.name}" before; make it once, export it and import it in both, or rename one`);
        }
        names.set(slot.name, slot);
        if (!places.has(slot)) places.set(slot, places.size);
    };
    const writers = new Map<Slot, Middleware>();
    for (const slot of provided) place(slot, "provides");
    for (const each of order.sorted) {
        const who = `middleware "${each.name}"`;
        for (const slot of each.writes) {
            place(slot, who);
            const first = writers.get(slot);
            if (first !== undefined && first !== each && !order.isOrdered(first, each)) {
                throw new MiddlewareError(
                    "plan.slot",
                    `middleware "${first.name}" and "${each.name}" both write the slot "${slot.name}", and nothing says which comes last; write after: "${first.name}" in "${each.name}", or before: "${first.name}"`,
                );
            }
            writers.set(slot, each);
        }
    }
    for (const each of order.sorted) {
        for (const slot of each.reads) {
            place(slot, `middleware "${each.name}"`);
            if (!writers.has(slot) && !provided.includes(slot)) {
                throw new MiddlewareError("plan.slot", `middleware "${each.name}" reads the slot "${slot.name}", which nobody writes; add the middleware that has it in writes, or name it in provides`);
            }
        }
    }
    return places;
}
