// Path patterns of Express 4, each beside others, so that the plan has something to choose from.
import { pass } from "./handlers.mjs";

const patterns = [
    "/", "/a", "/a/", "/A/b", "/:x", "/:x/", "/:x/:y", "/a/:x", "/a/:x?", "/:x?", "/:x?/b", "/a/:x?/b/:y?", "/a/:x*", "/:x*", "/a*", "/a/*", "*", "/*", "/*/b", "/a*b", "/ab?cd", "/ab+cd", "/a(bc)?d", "/a/(b)?", "/a/?b", "/a/:x(\\d+)", "/:x(a|b)", "/:x(\\d+)?", "/:x(\\d+)?/y", "/:x(\\d+)?abc",
    "/a/:x(.*)", "/a/:x(\\d+)/:y", "/:x-:y", "/:x.:y", "/:x.:y?", "/a.:y?", "/file.txt", "/a:x", "/a:x?", "/:x?b", "/a/:x?b", "/.:x", "/a/.:x?", "/a|b", "/(a|b)", "a", ":x", "", "/a\\.b", "/a[bc]", "/a$", "^/a", "/:x/:x", "/a/:", "/a//b", "/:x//", "/é", "/%41", "/a%2Fb", "/a b", "/a/(\\d+)/(\\w+)", "/a.b", "/a+", "/+a", "/:x+", "/a/:x+/b",
    ["/a", "/b/:x"], ["/a/:x", "/:x/b"], [/^\/q(\d)/, "/r/:x"], ["/a", ["/c", "/d?"]], [],
    /^\/a/, /b$/i, /(?<n>c)(d)?/, /./, /\/(\w+)(?:\/(\w+))?$/, /^\/\((x)\)/,
];
const urls = [
    "/", "//", "/a", "/a/", "/A", "/b", "/a/b", "/a/b/", "/A/B", "/a//b", "/a/b/c", "/a/b/c/", "/1", "/a/1", "/a/1/b", "/a/1/b/2", "/a/b/b/c", "/12abc", "/1/y", "/abcd", "/abbcd", "/acd", "/ad", "/abc", "/abcb", "/ab", "/a.b", "/a.txt", "/file.txt", "/x-y", "/x-y-z", "/.x", "/a/.x", "/./x", "/é", "/%C3%A9", "/%41", "/a%2Fb", "/a b", "/a/1/x", "/a/b/c/d", "/q1", "/r/2", "/c", "/cd", "/d", "/(x)", "/a/", "/%", "/a/%zz", "/a//", "/+a", "/aa", "", "a", "/a:x", "/a/:", "/K", "/k", "/foob", "/a/xb",
];

export const paths4 = [
    ...patterns.map((pattern) => ({
        name: `the path ${Array.isArray(pattern) ? `[${pattern}]` : pattern}`,
        only: 4,
        make: ({ router }) => router().get("/zz", pass("zz")).get(pattern, pass("route")).use(pattern, pass("use")).get("/yy/:x", pass("yy")).get("/a/b", pass("a/b")).get("/:p/:q", pass("p/q")),
        requests: urls,
    })),
    {
        name: "all paths at once",
        only: 4,
        make: ({ router }) => {
            const all = router();
            for (const [at, pattern] of patterns.entries()) if (pattern !== "^/a") all.get(pattern, pass(`get ${at}`)).use(pattern, pass(`use ${at}`));
            return all;
        },
        requests: urls,
    },
    {
        name: "all paths at once, by case and slash",
        only: 4,
        make: ({ router }) => {
            const all = router({ strict: true, caseSensitive: true });
            for (const [at, pattern] of patterns.entries()) all.get(pattern, pass(`get ${at}`)).use(pattern, pass(`use ${at}`));
            return all;
        },
        requests: urls,
    },
    ...[undefined, null, 5, {}, true, Symbol.iterator, [undefined], [5], "(", "/:x(", "/[", "/*?", "/**", "/a)", "?", "+", "/:x(\\d", "/\\"].map((path) => ({
        name: `the path ${String(path)} of type ${typeof path}`,
        only: 4,
        make: ({ router }) => router().get(path, pass("get")),
        requests: ["/", "/a", "/5", "/undefined"],
    })),
];
