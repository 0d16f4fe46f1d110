// Secrets: values that go to the wire and nowhere else.
import { inspect } from "node:util";

const SHOWN = "[secret]";
const revealed = new WeakMap<Secret, string>();

/**
 * A value that is sent and never shown: turned to text, JSON or a log it is "[secret]". `reveal` is the one way to its value, so a
 * search for that word finds every place where it leaves.
 */
export class Secret {
    constructor(value: string) {
        revealed.set(this, value);
        Object.freeze(this);
    }

    toString(): string {
        return SHOWN;
    }

    toJSON(): string {
        if (writing === undefined) return SHOWN;
        writing.add(this);
        return reveal(this);
    }

    [inspect.custom](): string {
        return SHOWN;
    }
}

/** Makes a secret of a value. */
export function secret(value: string): Secret {
    return new Secret(value);
}

/** The value of a secret; of a text the text. */
export function reveal(value: Secret | string): string {
    return typeof value === "string" ? value : (revealed.get(value) as string);
}

/** While a body is written as JSON. */
let writing: Redactor | undefined;

/** Runs `write`, in which JSON has the values of secrets: they stand in a body that goes to the wire. The redactor learns them. */
export function revealing<T>(redactor: Redactor, write: () => T): T {
    const before = writing;
    writing = redactor;
    try {
        return write();
    } finally {
        writing = before;
    }
}

/** Shorter values stand in too many texts by chance, so that what is left of a message would tell them. */
const LENGTH_MIN = 4;
/** The values of one transport; credentials that are renewed push the oldest out. */
const VALUES_MAX = 256;

/** Takes secrets out of texts, by their values: as they are, in Base64, and as they stand in a URL or in JSON. */
export class Redactor {
    readonly #forms = new Map<string, readonly string[]>();

    /** From now on `value` is taken out. The same value again costs a look-up. */
    add(value: Secret | string): void {
        const text = reveal(value);
        if (text.length < LENGTH_MIN || this.#forms.has(text)) return;
        const base64 = Buffer.from(text).toString("base64");
        const forms = [text, encodeURIComponent(text), new URLSearchParams({ a: text }).toString().slice(2), JSON.stringify(text).slice(1, -1), base64, base64.replace(/=+$/, "")];
        // Longest first: a form may be a part of another one.
        this.#forms.set(text, [...new Set(forms)].sort((a, b) => b.length - a.length));
        const oldest = this.#forms.keys().next();
        if (this.#forms.size > VALUES_MAX && oldest.done !== true) this.#forms.delete(oldest.value);
    }

    /** Whether there is anything to take out. */
    get isEmpty(): boolean {
        return this.#forms.size === 0;
    }

    /** `text` without the secrets; the same string if there are none in it. */
    text(text: string): string {
        let clean = text;
        for (const forms of this.#forms.values()) for (const form of forms) if (clean.includes(form)) clean = clean.replaceAll(form, SHOWN);
        return clean;
    }
}
