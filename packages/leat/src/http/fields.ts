// How the fields of a request become `req.headers`: the rules of Node's IncomingMessage.

/** Values are joined by ", ". */
const JOIN = 0;
/** Values are joined by "; ". */
const JOIN_COOKIE = 1;
/** Every value is an item of an array. */
const LIST = 2;
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

/** Names that most requests have, whose lower case is looked up rather than made. */
const COMMON = [
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "expect",
    "forwarded",
    "if-match",
    "if-none-match",
    "origin",
    "pragma",
    "range",
    "sec-ch-ua",
    "sec-ch-ua-mobile",
    "sec-ch-ua-platform",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "sec-fetch-user",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-request-id",
    "x-requested-with",
];

/** What a name means. */
interface Named {
    readonly name: string;
    readonly rule: number;
}

/** By name, as it is mostly spelt. Fixed: nothing that a peer sends is added. */
const named = new Map<string, Named>();

for (const [names, rule] of [[FIRST_WINS, FIRST], [COMMON, JOIN], [["cookie"], JOIN_COOKIE], [["set-cookie"], LIST]] as const) {
    for (const name of names) {
        const meaning = { name, rule };
        named.set(name, meaning);
        named.set(name.replace(/\b[a-z]/g, (first) => first.toUpperCase()), meaning);
    }
}

/** Fields by lower-case name, as `req.headers` holds them. */
export type Fields = Record<string, string | string[] | undefined>;

/** The first `count` items of `[name, value, name, value…]` by their rules. */
export function fieldsOf(raw: string[], count: number, joinDuplicates: boolean): Fields {
    const out: Fields = {};
    for (let i = 0; i < count; i += 2) {
        const sent = raw[i] as string;
        const value = raw[i + 1] as string;
        const meaning = named.get(sent);
        if (meaning !== undefined) {
            add(out, meaning.name, meaning.rule, value, joinDuplicates);
        } else {
            const name = sent.toLowerCase();
            add(out, name, named.get(name)?.rule ?? JOIN, value, joinDuplicates);
        }
    }
    return out;
}

/** Whether a copy of the fields would share something that a program may change. */
export function isShared(fields: Fields): boolean {
    return fields["set-cookie"] !== undefined;
}

function add(into: Fields, name: string, rule: number, value: string, joinDuplicates: boolean): void {
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
