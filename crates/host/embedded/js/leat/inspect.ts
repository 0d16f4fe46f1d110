// `util.inspect` and `util.format`, loaded when something is first shown that is no text.
import extracted from "node-inspect-extracted";

export const { inspect, format, formatWithOptions, stripVTControlCharacters } = extracted;
/** Columns of a terminal that text takes. */
export const { getStringWidth } = extracted as unknown as { getStringWidth(text: string): number };
