// What may differ between two runs of the same program: frames of stacks, clocks, process ids, line numbers of callers.

const FRAMES = /(?:\n|\\n) {4,}at [^\n\\]*/g;
const HTML_FRAMES = /<br> &nbsp; &nbsp;at [^<]*/g;
const REQUIRE_STACK = /(Require stack:)(?:(?:\n|\\n|<br>)- [^\n\\<]*)+/g;
const DEPRECATED = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT (\S+ deprecated .*?)(?: at [^\n]*:\d+:\d+)?$/gm;
const PROCESS = /\(node:\d+\)/g;

export function masked(text) {
    return text.replace(FRAMES, "").replace(HTML_FRAMES, "").replace(REQUIRE_STACK, "$1 …").replace(DEPRECATED, "$1").replace(PROCESS, "(node)");
}
