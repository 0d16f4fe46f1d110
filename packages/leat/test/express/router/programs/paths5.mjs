// Path patterns of Express 5, each beside others, so that the plan has something to choose from.
import { pass } from "./handlers.mjs";

const patterns = [
    "/", "/a", "/a/", "/A/b", "/:x", "/:x/", "/:x/:y", "/a/:x", "/a{/:x}", "{/:x}", "{/:x}/b", "/a{/:x}/b{/:y}", "/a/*x", "/*x", "/a*x", "/a/{*x}", "{*x}", "/{*x}", "/*x/b", "/a*x-b", "/*x/b/*y", "/ab{c}d", "/a{b{c}}d", "/{a}", "/{:x}", "/:x{.:y}", "/:x-:y", "/:x.:y", "/a:x", "/a{:x}", "/:x{b}", "/file.txt", "/a.b", "a", ":x", "*x", "", "/a\\:b", "/a\\.b", '/:"x y"', '/*"x y"', '/:"0"/:"1"', "/:x/:x", "/a//b", "/:x//", "/é", "/:é", "/%41", "/a%2Fb", "/a b", "/$", "/^a", "/a|b", "/{a/}b", "{/a}{/b}{/c}", "/:x{/:y{/:z}}",
    ["/a", "/b/:x"], ["/a/:x", "/:x/b"], [/^\/q(\d)/, "/r/:x"], ["/a", ["/c", "/d"]], ["/", "/x"], [],
    /^\/a/, /b$/i, /(?<n>c)(d)?/, /./, /\/(\w+)(?:\/(\w+))?$/, /^\/\((x)\)/,
];
const urls = [
    "/", "//", "/a", "/a/", "/A", "/b", "/a/b", "/a/b/", "/A/B", "/a//b", "/a/b/c", "/a/b/c/", "/1", "/a/1", "/a/1/b", "/a/1/b/2", "/a/b/b/c", "/abd", "/abcd", "/ad", "/ab", "/a.b", "/a.txt", "/file.txt", "/x-y", "/x-y-z", "/ax-b", "/a/x-b", "/.x", "/a:b", "/é", "/%C3%A9", "/%41", "/a%2Fb", "/a b", "/a/1/x", "/a/b/c/d", "/q1", "/r/2", "/c", "/cd", "/d", "/(x)", "/%", "/a/%zz", "/%zz/b", "/a//", "/aa", "", "a", "b", "/b/c", "/c/d", "/$", "/^a", "/a|b", "/K", "/k", "/x", "/0/1",
];

export const paths5 = [
    ...patterns.map((pattern) => ({
        name: `the path ${Array.isArray(pattern) ? `[${pattern}]` : pattern}`,
        only: 5,
        make: ({ router }) => router().get("/zz", pass("zz")).get(pattern, pass("route")).use(pattern, pass("use")).get("/yy/:x", pass("yy")).get("/a/b", pass("a/b")).get("/:p/:q", pass("p/q")),
        requests: urls,
    })),
    {
        name: "all paths at once",
        only: 5,
        make: ({ router }) => {
            const all = router();
            for (const [at, pattern] of patterns.entries()) all.get(pattern, pass(`get ${at}`)).use(pattern, pass(`use ${at}`));
            return all;
        },
        requests: urls,
    },
    {
        name: "all paths at once, by case and slash",
        only: 5,
        make: ({ router }) => {
            const all = router({ strict: true, caseSensitive: true });
            for (const [at, pattern] of patterns.entries()) all.get(pattern, pass(`get ${at}`)).use(pattern, pass(`use ${at}`));
            return all;
        },
        requests: urls,
    },
    ...[undefined, null, 5, {}, true, Symbol.iterator, [undefined], [5], "(", "/:", "/*", "*", "/:x?", "/a(b)", "/[a]", "/a+", "/!", "/{", "/}", "/:x:y", "/:x*y", "/\\", '/:"x', { toString: () => "/a" }, "/{a}".repeat(9)].map((path) => ({
        name: `the path ${String(path)} of type ${typeof path}`,
        only: 5,
        make: ({ router }) => router().get(path, pass("get")),
        requests: ["/", "/a", "/5", "/undefined"],
    })),
];
