const { ORIGIN, NONSENSE, CLOSED } = process.env;
const show = (...values) => console.log(JSON.stringify(values).replaceAll(ORIGIN, "ORIGIN").replaceAll(CLOSED, "CLOSED").replaceAll(/127\.0\.0\.1:\d+/g, "ADDRESS"));
const failing = async (name, call) => {
    try {
        show(name, await call());
    } catch (error) {
        const { cause } = error ?? {};
        show(name, error?.name ?? error, error?.message ?? null, error?.code ?? null, cause?.name ?? null, cause?.code ?? null, cause?.syscall ?? null, error instanceof TypeError, error instanceof DOMException);
    }
};
const echo = async (url, init) => (await fetch(`${ORIGIN}${url}`, init)).json();

async function main() {
    const hello = await fetch(`${ORIGIN}/hello`);
    show(hello.status, hello.ok, hello.statusText, hello.url, hello.type, hello.redirected, hello.bodyUsed, hello instanceof Response);
    show(hello.headers.get("x-a"), hello.headers.getSetCookie(), hello.headers.get("none"), [...hello.headers.keys()]);
    show(await hello.text(), hello.bodyUsed);
    await failing("read twice", () => hello.text());
    await failing("immutable", () => hello.headers.set("a", "b"));
    show(await echo("/echo?x=1#frag"));
    show(await echo("/echo", { method: "post", body: "täxt", headers: { "X-Own": "1", Accept: "text/plain" } }));
    show(await echo("/echo", { method: "PUT", body: new Uint8Array([1, 2, 255]) }));
    show(await echo("/echo", { method: "POST", body: new URLSearchParams({ a: "1 2", b: "ü" }) }));
    show(await echo("/echo", { method: "POST", body: new Blob(["blob"], { type: "text/X" }) }));
    show(await echo("/echo", { method: "POST" }));
    show(await echo("/echo", { method: "PATCH", body: "x" }));
    show(await echo("/echo", { method: "DELETE", headers: new Headers([["a", "1"], ["a", "2"]]) }));
    const form = new FormData();
    form.append("text", "välue\nline");
    form.append("file", new File(["content"], 'na"me.txt', { type: "text/plain" }));
    show(await echo("/echo", { method: "POST", body: form }));
    const stream = new ReadableStream({
        start(controller) {
            controller.enqueue(new TextEncoder().encode("one "));
            controller.enqueue(new TextEncoder().encode("two"));
            controller.close();
        },
    });
    show(await echo("/echo", { method: "POST", body: stream, duplex: "half" }));
    show(await echo("/echo", new Request(`${ORIGIN}/ignored`, { method: "POST", body: "from request" })));
    show(await (await fetch(new Request(`${ORIGIN}/echo`, { method: "POST", body: "request" }))).json());
    for (const code of [200, 204, 205, 304, 404, 500]) {
        const response = await fetch(`${ORIGIN}/status?code=${code}`);
        show(response.status, response.ok, response.statusText, response.body === null, await response.text());
    }
    show((await fetch(`${ORIGIN}/hello`, { method: "HEAD" })).headers.get("content-length"));
    for (const how of ["gzip", "deflate", "raw", "br", "other"]) {
        const response = await fetch(`${ORIGIN}/coded?how=${how}`);
        show(how, response.headers.get("content-encoding"), (await response.text()).length);
    }
    for (const [code, method] of [[301, "POST"], [302, "POST"], [303, "PUT"], [307, "POST"], [308, "PUT"], [302, "PUT"]]) {
        const response = await fetch(`${ORIGIN}/redirect?code=${code}&to=/echo`, { method, body: "body", headers: { authorization: "secret" } });
        show(code, method, response.redirected, response.url, await response.json());
    }
    const manual = await fetch(`${ORIGIN}/redirect?code=302&to=/echo`, { redirect: "manual" });
    show(manual.status, manual.headers.get("location"), manual.type, await manual.text());
    const other = ORIGIN.replace("127.0.0.1", "localhost");
    show((await (await fetch(`${ORIGIN}/redirect?code=307&to=${other}/echo`, { headers: { authorization: "secret", cookie: "a=1", "x-own": "kept" } })).json()).headers);
    await failing("redirect error", () => fetch(`${ORIGIN}/redirect?code=302&to=/echo`, { redirect: "error" }));
    await failing("redirect loop", () => fetch(`${ORIGIN}/loop`));
    await failing("redirect to file", () => fetch(`${ORIGIN}/redirect?code=302&to=file:///etc/passwd`));
    show(await (await fetch(`${ORIGIN}/pieces`)).text());
    const pieces = await fetch(`${ORIGIN}/pieces`);
    let read = "";
    for await (const piece of pieces.body) read += new TextDecoder().decode(piece);
    show(read, pieces.bodyUsed);
    let length = 0;
    for await (const piece of (await fetch(`${ORIGIN}/big`)).body) length += piece.length;
    show(length);
    show((await (await fetch(`${ORIGIN}/big`)).arrayBuffer()).byteLength);
    const cloned = await fetch(`${ORIGIN}/hello`);
    const copy = cloned.clone();
    show(await cloned.text(), await copy.text());
    show((await (await fetch(`${ORIGIN}/hello`)).blob()).size);
    show(await (await fetch("data:text/plain;base64,aGVsbG8=")).text(), await (await fetch("data:,a%20b")).text(), (await fetch("data:text/html,x")).headers.get("content-type"));

    await failing("refused", () => fetch(CLOSED));
    await failing("no such name", () => fetch("http://no-such-name.invalid/"));
    await failing("reset", () => fetch(`${ORIGIN}/reset`));
    await failing("nonsense", () => fetch(NONSENSE));
    await failing("cut", async () => (await fetch(`${ORIGIN}/cut`)).text());
    await failing("scheme", () => fetch("ftp://a/"));
    await failing("relative", () => fetch("/x"));
    await failing("bad port", () => fetch("http://127.0.0.1:25/"));
    await failing("credentials", () => fetch("http://u:p@127.0.0.1/"));
    await failing("GET with body", () => fetch(ORIGIN, { body: "x" }));
    await failing("header line", () => fetch(ORIGIN, { headers: { a: "b\r\nc: d" } }));
    await failing("method", () => fetch(ORIGIN, { method: "a b" }));
    await failing("CONNECT", () => fetch(ORIGIN, { method: "CONNECT" }));
    await failing("no duplex", () => fetch(ORIGIN, { method: "POST", body: new ReadableStream() }));
    await failing("aborted before", () => fetch(`${ORIGIN}/hello`, { signal: AbortSignal.abort() }));
    await failing("aborted with reason", () => fetch(`${ORIGIN}/hello`, { signal: AbortSignal.abort("why") }));
    await failing("aborted while waiting", () => {
        const controller = new AbortController();
        const promise = fetch(`${ORIGIN}/never`, { signal: controller.signal });
        queueMicrotask(() => controller.abort());
        return promise;
    });
    await failing("aborted in the body", async () => {
        const controller = new AbortController();
        const response = await fetch(`${ORIGIN}/begins`, { signal: controller.signal });
        const text = response.text();
        controller.abort();
        return text;
    });
    await failing("aborted stream", async () => {
        const controller = new AbortController();
        const response = await fetch(`${ORIGIN}/begins`, { signal: controller.signal });
        const reader = response.body.getReader();
        show(new TextDecoder().decode((await reader.read()).value));
        controller.abort();
        await reader.read();
    });
    const cancelled = await fetch(`${ORIGIN}/begins`);
    await cancelled.body.cancel();
    show("cancelled", cancelled.bodyUsed);
    const many = await Promise.all(Array.from({ length: 20 }, async (_, at) => (await echo(`/echo?${at}`)).url));
    show(many);
}
main().then(() => show("done"), (error) => show("failed", String(error), error.stack));
