// The outline of a path pattern: as much as a plan needs to tell which paths cannot match.

/** Any one segment. */
export const ANY = null;

export interface Shape {
    /** The text of each segment, in lower case, or `ANY`. A slash at the end makes no segment. */
    readonly segments: readonly (string | typeof ANY)[];
    /** Whether anything may follow. */
    readonly rest: boolean;
}

/** Stands in an outline for something without a slash. */
export const VARIES = "\0";
/** Stands in an outline for anything. */
export const REST = "\x01";

/** Other letters have two cases by rules that are the regular expression's alone. */
const PLAIN = /^[\x20-\x7e]*$/;

/**
 * The shape of a pattern from its text, in which `VARIES` and `REST` stand for what is no text. `open` says that more may
 * follow behind a slash. Null if it does not start with a slash, so that it may match in ways that segments don't show.
 */
export function shapeOf(outline: string, open: boolean): Shape | null {
    if (!outline.startsWith("/")) return null;
    const end = outline.indexOf(REST);
    const known = end === -1 ? outline : outline.substring(0, outline.lastIndexOf("/", end));
    const segments = known.split("/").slice(1).map((text) => (PLAIN.test(text) ? text.toLowerCase() : ANY));
    while (segments.at(-1) === "") segments.pop();
    return { segments, rest: open || end !== -1 };
}
