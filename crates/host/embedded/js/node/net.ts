// node:net as far as a server of HTTP needs it: what its sockets are, and addresses. Sockets of one's own are not there.
import { Socket } from "../http";

export { Socket, Socket as Stream };

const OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const V4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
const GROUP = /^[0-9a-f]{1,4}$/i;
const ZONE = /^[0-9a-z\-.:]+$/i;
const GROUPS = 8;
/** Longer than any address with its zone; what is longer is not looked at. */
const TEXT_MAX = 256;

export function isIPv4(input: unknown): boolean {
    const text = String(input);
    return text.length <= TEXT_MAX && V4.test(text);
}

export function isIPv6(input: unknown): boolean {
    const text = String(input);
    if (text.length > TEXT_MAX) return false;
    const zone = text.indexOf("%");
    if (zone !== -1 && !ZONE.test(text.slice(zone + 1))) return false;
    const halves = (zone === -1 ? text : text.slice(0, zone)).split("::");
    if (halves.length > 2) return false;
    let count = 0;
    for (const [at, half] of halves.entries()) {
        if (half === "") continue;
        const groups = half.split(":");
        if (at === halves.length - 1 && isIPv4(groups.at(-1))) {
            groups.pop();
            count += 2;
        }
        if (!groups.every((group) => GROUP.test(group))) return false;
        count += groups.length;
    }
    return halves.length === 2 ? count < GROUPS : count === GROUPS;
}

/** 4, 6, or 0 for what is no address. */
export const isIP = (input: unknown): 0 | 4 | 6 => (isIPv4(input) ? 4 : isIPv6(input) ? 6 : 0);

function absent(name: string): never {
    const error = new Error(`net.${name}() is not there in Leat's own host; run the program on Node.js: node --import leat/register APP`);
    throw Object.assign(error, { code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM" });
}

export const connect = (): never => absent("connect");
export const createConnection = (): never => absent("createConnection");
export const createServer = (): never => absent("createServer");

/** Refuses to be made. */
export class Server {
    constructor() {
        absent("Server");
    }
}
