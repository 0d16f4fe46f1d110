// What the web's globals look like, and streams of both kinds in each other.
console.log(new URL("http://a:b@c:80/x?y=1#z"), { nested: new URLSearchParams("a=1&b=2") });
console.log(new Headers({ a: "b" }), new AbortController(), new Blob(["x"]), new Response("x").headers);
for (const name of ["URL", "Headers", "Request", "Response", "Blob", "File", "FormData", "AbortSignal", "EventTarget", "TextEncoder", "ReadableStream", "CompressionStream", "DOMException", "fetch", "structuredClone", "atob", "btoa", "crypto", "performance"]) {
    console.log(name, globalThis[name].name, typeof globalThis[name], Object.getOwnPropertyDescriptor(globalThis, name).enumerable);
}
console.log(fetch.length, require("buffer").Blob === Blob, require("url").URL === URL, require("util").TextEncoder === TextEncoder);

async function main() {
    const { Readable, Writable } = require("stream");
    const packed = new Response("hello hello").body.pipeThrough(new CompressionStream("gzip")).pipeThrough(new DecompressionStream("gzip"));
    console.log(await new Response(packed).text());
    console.log(await new Response(Readable.toWeb(Readable.from([Buffer.from("x")]))).text());
    let text = "";
    for await (const piece of Readable.fromWeb(new Response("from web").body)) text += piece;
    console.log(text);
    const got = [];
    const into = new Writable({
        write(chunk, _encoding, callback) {
            got.push(String(chunk));
            callback();
        },
    });
    await new Response("to a writable").body.pipeTo(Writable.toWeb(into));
    console.log(got);
    const all = [];
    for await (const piece of Readable.toWeb(Readable.from(["a", "b"]))) all.push(piece);
    console.log(all);
    const out = [];
    const writable = Writable.fromWeb(new WritableStream({ write: (chunk) => void out.push(Buffer.from(chunk).toString()) }));
    writable.end("bytes");
    await require("stream/promises").finished(writable);
    console.log(out);
}
main().then(() => console.log("done"), (error) => console.log("failed", error));
