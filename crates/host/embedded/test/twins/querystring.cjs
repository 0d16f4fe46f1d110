const querystring = require("querystring");
for (const text of ["", "a=1", "a=1&a=2&b", "a=%20+%C3%A9", "=x", "a==b", "&&a=1&", "%zz=%", "a[b]=c", "a=%E4%BD", "__proto__=1", "a=b;c=d", "%E0%A4%A=1", "a&b=&=c"]) {
    console.log(JSON.stringify(text), JSON.stringify(querystring.parse(text)), JSON.stringify(querystring.parse(text, ";", "b")));
}
console.log(querystring.parse("a=1&b=2&c=3", null, null, { maxKeys: 2 }), Object.getPrototypeOf(querystring.parse("a=1")));
for (const value of [{}, { a: 1 }, { a: [1, "b", true, null, undefined, {}] }, { a: "é &=" }, { a: NaN, b: Infinity, c: 1n, d: false }, null, "x", { "a b": "!'()*-._~" }]) {
    console.log(querystring.stringify(value), querystring.stringify(value, ";", ":"));
}
console.log(querystring.escape("a b/é"), querystring.unescape("%41%zz"), querystring.unescapeBuffer("a%20b%").toString());
try {
    querystring.stringify({ a: "\ud800" });
} catch (error) {
    console.log(error.name, error.code, error.message);
}
