// `Retry-After` (RFC 9110 section 10.2.3): seconds, or one of the three forms of an HTTP date (section 5.6.7).

const US_A_SECOND = 1_000_000;
const US_A_MS = 1000;
/** No field of a response needs to be longer; what is counts as absent. */
const LENGTH_MAX = 128;

const DAYS = "Mon|Tue|Wed|Thu|Fri|Sat|Sun";
const LONG_DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday";
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const MONTH = `(?<month>${MONTHS.join("|")})`;
const TIME = "(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d)";
const FORMS = [
    new RegExp(`^(?:${DAYS}), (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
    new RegExp(`^(?:${LONG_DAYS}), (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT$`),
    new RegExp(`^(?:${DAYS}) ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/**
 * How long the field's value asks to wait, seen at `timeOfDayUs` (since 1970). A date that has passed is a wait of zero; undefined
 * for anything that is neither seconds nor a date: such a field counts as absent.
 */
export function retryAfterUs(value: string, timeOfDayUs: number): number | undefined {
    if (value.length > LENGTH_MAX) return undefined;
    const trimmed = value.replace(/^[ \t]+|[ \t]+$/g, "");
    if (/^\d+$/.test(trimmed)) return Math.min(Number(trimmed) * US_A_SECOND, Number.MAX_SAFE_INTEGER);
    const dateMs = httpDateMs(trimmed);
    return dateMs === undefined ? undefined : Math.max(0, dateMs * US_A_MS - timeOfDayUs);
}

/** Milliseconds since 1970 of an HTTP date in any of its three forms; undefined if it is none. */
export function httpDateMs(value: string): number | undefined {
    for (const form of FORMS) {
        const found = form.exec(value)?.groups;
        if (found === undefined) continue;
        const { year = "", month = "", day = "", hour, minute, second } = found;
        const date = Number(day);
        if (date < 1 || date > 31) return undefined;
        return Date.UTC(yearOf(year), MONTHS.indexOf(month), date, Number(hour), Number(minute), Number(second));
    }
    return undefined;
}

/** Of two digits, those from 70 on are of the last century. */
function yearOf(digits: string): number {
    const year = Number(digits);
    if (digits.length > 2) return year;
    return year < 70 ? 2000 + year : 1900 + year;
}
