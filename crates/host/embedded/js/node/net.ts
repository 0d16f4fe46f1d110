// node:net. Sockets and servers are a module of their own, loaded when the first is made.
import { isIP, isIPv4, isIPv6 } from "../leat/ip";

type Net = typeof import("../leat/net");

const net: Record<string, unknown> = { isIP, isIPv4, isIPv6 };
const real = (): Net => require("../leat/net") as Net;

function late(name: string, load: () => unknown): void {
    const put = (value: unknown): void => {
        Object.defineProperty(net, name, { configurable: true, enumerable: true, writable: true, value });
    };
    Object.defineProperty(net, name, {
        configurable: true,
        enumerable: true,
        get() {
            const value = load();
            put(value);
            return value;
        },
        set: put,
    });
}
/** Programs call these without `new` too. */
function callable(Class: new (...given: never[]) => object): unknown {
    const made = function (this: unknown, ...given: never[]): object {
        return Reflect.construct(Class, given, new.target ?? Class) as object;
    };
    Object.defineProperty(made, "name", { value: Class.name });
    made.prototype = Class.prototype as object;
    return made;
}
/** The sockets of HTTP are views of the engine's connections, of a class of their own; they count as this class's too. */
late("Socket", () => {
    const { Socket } = real();
    const made = callable(Socket as unknown as new () => object) as object;
    Object.defineProperty(made, Symbol.hasInstance, { value: (value: unknown) => value instanceof Socket || value instanceof (require("../http") as typeof import("../http")).Socket });
    return made;
});
late("Stream", () => net["Socket"]);
late("Server", () => callable(real().Server as unknown as new () => object));
late("BlockList", () => (require("../leat/block_list") as typeof import("../leat/block_list")).BlockList);
late("SocketAddress", () => (require("../leat/block_list") as typeof import("../leat/block_list")).SocketAddress);

function connect(...given: unknown[]): unknown {
    const { Socket, normalize } = real();
    const [options] = normalize(given);
    const socket = new Socket(options);
    return socket.connect(...given);
}
net["connect"] = connect;
net["createConnection"] = connect;
net["createServer"] = (options?: object, listener?: () => void) => new (real().Server)(options, listener);

let selects = true;
let attemptMs = 250;
net["getDefaultAutoSelectFamily"] = () => selects;
net["setDefaultAutoSelectFamily"] = (value: boolean) => void (selects = value);
net["getDefaultAutoSelectFamilyAttemptTimeout"] = () => attemptMs;
net["setDefaultAutoSelectFamilyAttemptTimeout"] = (value: number) => void (attemptMs = value);

module.exports = net;
