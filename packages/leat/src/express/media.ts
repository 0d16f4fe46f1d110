/** A media type with its parameters, as in an Accept field. */
interface Accepted {
    value: string;
    quality: number;
    params: Record<string, string>;
}

/** Reads `type/subtype; name=value; q=0.5`. */
export function acceptParams(text: string): Accepted {
    const [value = "", ...rest] = text.split(";");
    const out: Accepted = { value: value.trim(), quality: 1, params: {} };
    for (const part of rest) {
        const equals = part.indexOf("=");
        if (equals === -1) continue;
        const name = part.slice(0, equals).trim();
        const setting = part.slice(equals + 1).trim();
        if (name === "q") out.quality = Number.parseFloat(setting);
        else out.params[name] = setting;
    }
    return out;
}
