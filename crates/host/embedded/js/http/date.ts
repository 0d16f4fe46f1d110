let second = 0;
let text = "";

/** The Date field's value, made once a second. */
export function dateNow(): string {
    const now = Date.now();
    const current = Math.floor(now / 1000);
    if (current !== second) {
        second = current;
        text = new Date(now).toUTCString();
    }
    return text;
}
