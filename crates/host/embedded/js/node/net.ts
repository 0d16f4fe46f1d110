export function isIPv4(text: unknown): boolean {
    return typeof text === "string" && /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(text);
}
export function isIP(text: unknown): number {
    return isIPv4(text) ? 4 : 0;
}
