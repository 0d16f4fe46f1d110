// The Date field: formatted once a second, and the clock is read once per batch.
let stale = true;
let second = 0;
let text = "";

/** The time as a Date field has it. It may be as old as the batch. */
export function dateNow(): string {
    return stale ? refreshed() : text;
}

/** Makes the next `dateNow` read the clock. */
export function ageDate(): void {
    stale = true;
}

function refreshed(): string {
    stale = false;
    const now = Date.now();
    const whole = Math.floor(now / 1000);
    if (whole !== second) {
        second = whole;
        text = new Date(now).toUTCString();
    }
    return text;
}
