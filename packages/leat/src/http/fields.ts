// How repeated fields of a request become `req.headers`: the rules of Node's IncomingMessage.

/** Values are joined by ", ". */
const JOIN = 0;
/** Values are joined by "; ". */
const JOIN_COOKIE = 1;
/** Every value is an item of an array. */
export const LIST = 2;
/** The first value wins, unless the server joins duplicates. */
const FIRST = 3;

const FIRST_WINS = [
    "age",
    "host",
    "from",
    "etag",
    "server",
    "referer",
    "expires",
    "location",
    "user-agent",
    "retry-after",
    "content-type",
    "max-forwards",
    "authorization",
    "last-modified",
    "content-length",
    "if-modified-since",
    "proxy-authorization",
    "if-unmodified-since",
];

const rules = new Map<string, number>([...FIRST_WINS.map((name): [string, number] => [name, FIRST]), ["cookie", JOIN_COOKIE], ["set-cookie", LIST]]);

/** Fields by lower-case name, as `req.headers` holds them. */
export type Fields = Record<string, string | string[] | undefined>;

/** The rule of a field by its name in lower case. */
export function ruleOf(name: string): number {
    return rules.get(name) ?? JOIN;
}

/** Adds a field that may be there already. `name` is in lower case. */
export function addField(into: Fields, name: string, rule: number, value: string, joinDuplicates: boolean): void {
    const before = into[name];
    if (rule === LIST) {
        if (Array.isArray(before)) before.push(value);
        else into[name] = [value];
    } else if (typeof before !== "string") {
        // A property that every object inherits (`constructor`, say) counts as there where the first value wins, as in Node.
        if (before === undefined || rule !== FIRST) into[name] = value;
    } else if (rule === JOIN) {
        into[name] = `${before}, ${value}`;
    } else if (rule === JOIN_COOKIE) {
        into[name] = `${before}; ${value}`;
    } else if (joinDuplicates) {
        into[name] = `${before}, ${value}`;
    }
}
