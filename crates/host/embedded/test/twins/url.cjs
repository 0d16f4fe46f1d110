// URL and URLSearchParams: parsing, setters, queries and errors.
const show = (value) => console.log(JSON.stringify(value));
const parts = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
const urls = [
    "http://user:pa%20ss@EXAMPLE.com:8080/a/b/../c?x=1&y=%20#frag", "https://example.com:443/", "http://a/?", "http://a/#", "file:///tmp/a b",
    "http://[::1]:3000/x", "mailto:a@b.c", "data:text/plain,hello#x", "http://ünïcode.de/ä?ö#ü", "http:\\\\a\\b", "  http://a/  ", "ws://h:80/",
    "blob:http://a/uuid", "http://1.2.3/", "http://0x7f.1/", "javascript:alert(1)", "http://a:b@c/", "http://@c/", "http://u@c/p", "foo://h:1/p?q#f",
    "http://a/%zz", "http://a/\ud800",
];
for (const url of urls) {
    const made = new URL(url);
    show(parts.map((part) => made[part]));
}
for (const [url, base] of [["", undefined], ["/x", undefined], ["http://", undefined], ["http://a b/", undefined], ["//x", "nope"], ["http://a:99999/"], ["http://[::1/"], [undefined]]) {
    try {
        show(new URL(url, base).href);
    } catch (error) {
        show([error.name, error.code, error.message, error.input, error.base, error instanceof TypeError]);
    }
}
for (const [url, base] of [["/x?y", "http://h/a/b"], ["../x", "http://h/a/b/c"], ["?q", "http://h/a"], ["#f", "http://h/a?b"], ["//o/p", "https://h/"], ["", "http://h/a"]]) {
    show([new URL(url, base).href, URL.canParse(url, base), URL.canParse(url)]);
}
const sets = [
    ["protocol", "https"], ["protocol", "foo"], ["username", "ü:"], ["password", "@"], ["host", "b:99"], ["host", "b"], ["hostname", "c.d"], ["port", "443"],
    ["port", ""], ["port", "80x"], ["port", "99999"], ["pathname", "x y/../z"], ["search", "?a=b c"], ["search", ""], ["hash", "#h h"], ["hash", ""], ["host", ""],
    ["href", "http://new/"],
];
for (const [part, value] of sets) {
    const url = new URL("http://u:p@h:81/p?q=1#f");
    url[part] = value;
    show([part, value, url.href]);
}
try {
    new URL("http://a/").href = "bad";
} catch (error) {
    show([error.code, error.input]);
}
const live = new URL("http://a/?x=1&y=2&x=3");
show([live.searchParams.get("x"), live.searchParams.getAll("x"), live.searchParams.size]);
live.searchParams.append("z", "ä &=+");
show(live.href);
live.searchParams.delete("x");
show(live.href);
live.search = "?only=1";
show([...live.searchParams]);
live.searchParams.set("only", "2");
live.searchParams.set("more", "3");
live.searchParams.sort();
show([live.search, String(live.searchParams), live.searchParams === live.searchParams]);
live.searchParams.delete("only");
live.searchParams.delete("more");
show(live.href);
show([JSON.stringify({ live }), `${live}`, Object.prototype.toString.call(live), Object.keys(live)]);
for (const init of ["?a=1&b=2", "a=%E4%F6&b=+%2B", { a: 1, b: [2, 3] }, [["a", 1], ["b", 2]], new Map([["m", "n"]]), new URLSearchParams("q=1&q=2"), "", undefined, null, "=&==&a&&b=", 5]) {
    const params = new URLSearchParams(init);
    show([[...params], params.toString(), [...params.keys()], [...params.values()], params.has("a"), params.has("a", "1"), params.get("none")]);
}
for (const bad of [[["a"]], [1], { [Symbol.iterator]: 5 }]) {
    try {
        new URLSearchParams(bad);
    } catch (error) {
        show([error.name, error.code, error.message]);
    }
}
for (const call of [() => new URL(), () => new URLSearchParams().get(), () => new URLSearchParams().append("a"), () => new URLSearchParams().set()]) {
    try {
        call();
    } catch (error) {
        show([error.name, error.code, error.message]);
    }
}
const each = [];
new URLSearchParams("a=1&b=2").forEach((value, name, all) => each.push([value, name, all instanceof URLSearchParams]));
show(each);
