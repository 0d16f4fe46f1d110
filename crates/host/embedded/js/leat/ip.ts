// Addresses of the internet protocol, as texts.
const BYTE = "(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)";
const V4 = `${BYTE}(?:\\.${BYTE}){3}`;
const V4_ONLY = new RegExp(`^(?:(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)(?:\\.(?!$)|$)){4}$`);
/** Characters of an address with its zone. */
const CHARACTERS_MAX = 64;

export const isIPv4 = (text: unknown): boolean => V4_ONLY.test(`${text as string}`);

const V4_AT_END = new RegExp(`^(.*:)${V4}$`);

export function isIPv6(given: unknown): boolean {
    let text = `${given as string}`;
    if (text.length > CHARACTERS_MAX) return false;
    const zone = text.indexOf("%");
    if (zone >= 0) {
        if (!/^%[0-9a-zA-Z-.:]+$/.test(text.slice(zone))) return false;
        text = text.slice(0, zone);
    }
    // The last two groups may be written as of version 4.
    const tail = V4_AT_END.exec(text);
    if (tail !== null) text = `${tail[1]}0:0`;
    const halves = text.split("::");
    if (halves.length > 2) return false;
    const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
    if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
    return halves.length === 2 ? groups.length <= 7 : groups.length === 8;
}

export const isIP = (text: unknown): 0 | 4 | 6 => (isIPv4(text) ? 4 : isIPv6(text) ? 6 : 0);

/** The 16 bytes of an address as one number; those of version 4 stand at the end. */
export function numberOf(text: string): bigint {
    if (isIPv4(text)) return text.split(".").reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
    let plain = text.split("%")[0] ?? "";
    const tail = V4_AT_END.exec(plain);
    if (tail !== null) {
        const low = numberOf(plain.slice((tail[1] ?? "").length));
        plain = `${tail[1]}${(low >> 16n).toString(16)}:${(low & 65535n).toString(16)}`;
    }
    const [front = "", back] = plain.split("::");
    const groups = (half: string): string[] => (half === "" ? [] : half.split(":"));
    const [first, last] = [groups(front), groups(back ?? "")];
    const all = back === undefined ? first : [...first, ...new Array<string>(8 - first.length - last.length).fill("0"), ...last];
    return all.reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n);
}
