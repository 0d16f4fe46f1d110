// `net.BlockList` and `net.SocketAddress`.
import { invalidType, invalidValue, outOfRange } from "./coded";
import { isIP, numberOf } from "./ip";
import { validateInteger, validatePort, validateString } from "./validate";

type Family = "ipv4" | "ipv6";

export class SocketAddress {
    readonly address: string;
    readonly port: number;
    readonly family: Family;
    readonly flowlabel: number;

    constructor(options: { address?: string; port?: number; family?: string; flowlabel?: number } = {}) {
        const { family = "ipv4", port = 0, flowlabel = 0 } = options;
        this.family = familyOf(family);
        this.address = options.address ?? (this.family === "ipv4" ? "127.0.0.1" : "::");
        validateString(this.address, "options.address");
        validatePort(port, "options.port");
        if (isIP(this.address) !== (this.family === "ipv4" ? 4 : 6)) throw invalidValue("options.address", this.address);
        this.port = port;
        this.flowlabel = flowlabel;
    }
}

function familyOf(family: unknown): Family {
    validateString(family, "family");
    const known = family.toLowerCase();
    if (known !== "ipv4" && known !== "ipv6") throw invalidValue("family", family);
    return known;
}

interface Rule {
    family: Family;
    least: bigint;
    most: bigint;
    shown: string;
}

/** Rules that one list may have. */
const RULES_MAX = 1_000_000;

export class BlockList {
    #rules: Rule[] = [];

    static isBlockList(value: unknown): boolean {
        return value instanceof BlockList;
    }

    #add(family: Family, least: bigint, most: bigint, shown: string): void {
        if (this.#rules.length >= RULES_MAX) throw outOfRange("rules", `<= ${RULES_MAX}`, this.#rules.length);
        this.#rules.unshift({ family, least, most, shown });
    }

    addAddress(address: unknown, family: unknown = "ipv4"): void {
        const [number, known, text] = place(address, family);
        this.#add(known, number, number, `Address: ${label(known)} ${text}`);
    }

    addRange(start: unknown, end: unknown, family: unknown = "ipv4"): void {
        const [least, known, first] = place(start, family);
        const [most, , last] = place(end, family);
        if (least > most) throw invalidValue("start", start, "must come before end");
        this.#add(known, least, most, `Range: ${label(known)} ${first}-${last}`);
    }

    addSubnet(net: unknown, prefix: unknown, family: unknown = "ipv4"): void {
        const [number, known, text] = place(net, family);
        const bits = known === "ipv4" ? 32 : 128;
        validateInteger(prefix, "prefix", 0, bits);
        const size = 1n << BigInt(bits - prefix);
        const least = (number / size) * size;
        this.#add(known, least, least + size - 1n, `Subnet: ${label(known)} ${text}/${prefix}`);
    }

    check(address: unknown, family: unknown = "ipv4"): boolean {
        let [number, known] = place(address, family, true);
        if (number < 0n) return false;
        // An address of version 4 in one of version 6 counts as itself.
        if (known === "ipv6" && number >> 32n === 0xffffn) [number, known] = [number & 0xffffffffn, "ipv4"];
        return this.#rules.some((rule) => rule.family === known && rule.least <= number && number <= rule.most);
    }

    get rules(): string[] {
        return this.#rules.map(({ shown }) => shown);
    }
}

const label = (family: Family): string => (family === "ipv4" ? "IPv4" : "IPv6");

function place(address: unknown, family: unknown, lenient = false): [bigint, Family, string] {
    if (address instanceof SocketAddress) return [numberOf(address.address), address.family, address.address];
    if (typeof address !== "string") throw invalidType("address", "of type string", address);
    const known = familyOf(family);
    if (isIP(address) !== (known === "ipv4" ? 4 : 6)) {
        if (lenient) return [-1n, known, address];
        const error = invalidValue("address", address) as Error & { code: string };
        error.message = "Invalid address";
        error.code = "ERR_INVALID_ADDRESS";
        throw error;
    }
    return [numberOf(address), known, address];
}
