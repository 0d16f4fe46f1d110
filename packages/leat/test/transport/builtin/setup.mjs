// A transport without a network, on a clock that stands still until a test moves it.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
/** Modules of the transport, by their names below its folder. */
export const load = (name) => require(`../../../dist/transport/${name}.js`);

const { Transport } = load("transport");
const { ScriptedConnection, VirtualClock } = load("kit/index");
export const { TransportError } = load("error");

/** `script` is what each try comes to; `more` are further options of the transport. */
export function setup(middleware, script, more = {}) {
    const clock = new VirtualClock();
    const connection = new ScriptedConnection({ clock, script });
    const transport = new Transport({ nodes: "http://a.test", connection, clock, random: () => 0, middleware, timeoutMs: Infinity, development: true, ...more });
    const { exchanges } = connection;
    return { clock, connection, transport, exchanges, request: (options) => clock.settle(transport.request({ path: "/", ...options })) };
}

/** When the tries were sent. */
export const times = (exchanges) => exchanges.map(({ atMs }) => atMs);

/** What a call failed with. */
export async function failure(promise) {
    let result;
    try {
        result = await promise;
    } catch (error) {
        return error;
    }
    throw new Error(`nothing failed; it came to ${result.status}`);
}

/** What was thrown. */
export function thrown(run) {
    try {
        run();
    } catch (error) {
        return error;
    }
    throw new Error("nothing was thrown");
}
