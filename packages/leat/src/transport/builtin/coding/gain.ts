// Whether encoding pays, learnt for each route.

/** Routes that are kept; the one that was not used for longest goes. */
const ROUTES_MAX = 256;
/** Bodies that are looked at before a route is judged. */
const SAMPLES = 4;
/** Less saved than a tenth is not worth the time. */
const SIZE_MAX = 0.9;
/** Bodies that are sent as they are before another one is tried, as what a route sends may change. */
const SKIPPED = 64;
/** How much of the average the latest body is. */
const WEIGHT = 0.25;

interface Route {
    samples: number;
    /** Encoded bytes to bytes, on average. */
    size: number;
    skipped: number;
}

/** What encoding came to, by routes. */
export class Gain {
    private readonly routes = new Map<string, Route>();

    /** Whether the next body of this route is to be encoded. */
    pays(name: string): boolean {
        const route = this.routes.get(name);
        if (route === undefined || route.samples < SAMPLES || route.size <= SIZE_MAX) return true;
        route.skipped += 1;
        if (route.skipped <= SKIPPED) return false;
        route.skipped = 0;
        return true;
    }

    /** Takes what one body came to. */
    record(name: string, bytes: number, encodedBytes: number): void {
        const route = this.routes.get(name) ?? { samples: 0, size: 0, skipped: 0 };
        const size = encodedBytes / bytes;
        route.size = route.samples === 0 ? size : route.size + (size - route.size) * WEIGHT;
        route.samples += 1;
        this.routes.delete(name);
        this.routes.set(name, route);
        const oldest = this.routes.keys().next();
        if (this.routes.size > ROUTES_MAX && oldest.done !== true) this.routes.delete(oldest.value);
    }
}
