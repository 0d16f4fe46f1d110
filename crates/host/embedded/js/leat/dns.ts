// Names: `lookup` asks the system, as in Node. Queries to name servers are not here.
import { invalidType, invalidValue, missing } from "./coded";
import { isIP } from "./ip";
import { validateFunction } from "./validate";

interface Native {
    lookup(name: string, told: (error: Error | null, found: string[]) => void): void;
}
const lib = native("net") as Native;

export interface Found {
    address: string;
    family: number;
}
interface Options {
    all?: boolean;
    family?: number | string;
    hints?: number;
    order?: string;
    verbatim?: boolean;
}
type Told = (error: Error | null, address?: string | Found[], family?: number) => void;

export const order = { value: "verbatim" };

export function lookup(name: unknown, options: unknown, callback?: unknown): object {
    if (name && typeof name !== "string") throw invalidType("hostname", "of type string", name);
    let given: Options = {};
    if (typeof options === "function") callback = options;
    else if (typeof options === "number") given = { family: options };
    else if (options !== undefined && options !== null) {
        if (typeof options !== "object") throw invalidType("options", "one of type integer or object", options);
        given = options;
    }
    validateFunction(callback, "callback");
    const told = callback as Told;
    const family = given.family === "IPv4" ? 4 : given.family === "IPv6" ? 6 : (given.family ?? 0);
    if (family !== 0 && family !== 4 && family !== 6) throw invalidValue("options.family", given.family, "must be one of: 0, 4, 6");
    const answer = (all: Found[]): void => (given.all === true ? told(null, all) : told(null, all[0]?.address ?? "", all[0]?.family));
    if (!name) {
        process.nextTick(() => (given.all === true ? told(null, []) : told(null, null as unknown as string, family === 6 ? 6 : 4)));
        return {};
    }
    const kind = isIP(name);
    if (kind !== 0) {
        process.nextTick(answer, [{ address: name as string, family: kind }]);
        return {};
    }
    lib.lookup(name as string, (error, found) => {
        const failed = error as (Error & { hostname?: unknown }) | null;
        if (failed) {
            failed.hostname = name;
            return told(failed);
        }
        let all = found.map((address) => ({ address, family: isIP(address) as number }));
        const wanted = given.order ?? (given.verbatim === false ? "ipv4first" : order.value);
        if (wanted === "ipv4first") all.sort((one, other) => one.family - other.family);
        if (wanted === "ipv6first") all.sort((one, other) => other.family - one.family);
        if (family !== 0) all = all.filter((one) => one.family === family);
        if (all.length > 0) return answer(all);
        const none = Object.assign(new Error(`getaddrinfo ENOTFOUND ${name as string}`), { errno: -3008, code: "ENOTFOUND", syscall: "getaddrinfo", hostname: name });
        told(none);
    });
    return {};
}

export const lookupPromise = (name: unknown, options?: Options): Promise<unknown> =>
    new Promise((resolve, reject) => {
        lookup(name, options ?? {}, (error: Error | null, address: string | Found[], family: number) => (error ? reject(error) : resolve(Array.isArray(address) ? address : { address, family })));
    });
Object.defineProperty(lookup, Symbol.for("nodejs.util.promisify.custom"), { value: lookupPromise });

export const CODES = {
    ADDRCONFIG: 32, ALL: 16, V4MAPPED: 8, NODATA: "ENODATA", FORMERR: "EFORMERR", SERVFAIL: "ESERVFAIL", NOTFOUND: "ENOTFOUND", NOTIMP: "ENOTIMP", REFUSED: "EREFUSED", BADQUERY: "EBADQUERY", BADNAME: "EBADNAME",
    BADFAMILY: "EBADFAMILY", BADRESP: "EBADRESP", CONNREFUSED: "ECONNREFUSED", TIMEOUT: "ETIMEOUT", EOF: "EOF", FILE: "EFILE", NOMEM: "ENOMEM", DESTRUCTION: "EDESTRUCTION", BADSTR: "EBADSTR", BADFLAGS: "EBADFLAGS",
    NONAME: "ENONAME", BADHINTS: "EBADHINTS", NOTINITIALIZED: "ENOTINITIALIZED", LOADIPHLPAPI: "ELOADIPHLPAPI", ADDRGETNETWORKPARAMS: "EADDRGETNETWORKPARAMS", CANCELLED: "ECANCELLED",
};

/** Queries that are refused by name. */
export const QUERIES = "getServers lookupService resolve resolve4 resolve6 resolveAny resolveCaa resolveCname resolveMx resolveNaptr resolveNs resolvePtr resolveSoa resolveSrv resolveTxt reverse setServers".split(" ");
export const refused = (name: string) => (): never => {
    throw missing(`dns.${name}`, "use dns.lookup, or run the program with `node --import leat/register`");
};
