// Headers, Request, Response, Blob and FormData, without a network.
const show = (...values) => console.log(JSON.stringify(values));
const failing = async (name, call) => {
    try {
        show(name, await call());
    } catch (error) {
        show(name, error.name, error instanceof TypeError, error instanceof RangeError);
    }
};
async function main() {
    const headers = new Headers({ b: "2", A: " 1 ", "Set-Cookie": "x=1" });
    headers.append("a", "3");
    headers.append("set-cookie", "y=2");
    show([...headers], headers.get("SET-COOKIE"), headers.getSetCookie(), headers.has("B"));
    headers.set("a", "4");
    headers.delete("b");
    show([...headers.entries()], [...headers.values()]);
    for (const bad of [["a b", "x"], ["", "x"], ["a", "x\ny"], ["a", "€"], ["ü", "x"]]) await failing(`header ${bad}`, () => new Headers([bad]));
    await failing("null", () => new Headers(null));
    await failing("triple", () => new Headers([["a", "b", "c"]]));

    const response = new Response("text", { status: 201, statusText: "Made", headers: { a: "b" } });
    show(response.status, response.statusText, response.ok, [...response.headers], response.type, response.url, response.redirected, await response.text());
    show(await Response.json({ a: 1 }).json(), Response.json(1).headers.get("content-type"), Response.error().type, Response.error().status);
    show(Response.redirect("http://a/b", 301).headers.get("location"), Response.redirect("http://a/").status);
    await failing("status 99", () => new Response(null, { status: 99 }));
    await failing("body with 204", () => new Response("x", { status: 204 }));
    await failing("redirect 200", () => Response.redirect("http://a/", 200));
    await failing("json", () => new Response("{").json());
    show(new Response().body, (await new Response(new Uint8Array([104, 105])).text()), (await new Response(new Blob(["b"])).arrayBuffer()).byteLength);
    const twin = new Response("both");
    show(await twin.clone().text(), await twin.text());
    await failing("clone of used", () => twin.clone());
    const form = new FormData();
    form.append("a", "1");
    form.append("b", new Blob(["file"], { type: "text/plain" }), "f.txt");
    form.append("a", "zwei ü");
    const back = await new Response(form).formData();
    const file = back.get("b");
    show([...back.keys()], back.getAll("a"), file.name, file.type, file.size, await file.text(), file instanceof File);
    show([...(await new Response(new URLSearchParams("x=1&y=%20")).formData())]);
    await failing("not a form", () => new Response("x").formData());
    form.set("a", "only");
    form.delete("b");
    show([...form], form.has("b"));

    const request = new Request("http://a/b?c#d", { method: "post", body: "x", headers: { "content-type": "text/own" } });
    show(request.method, request.url, [...request.headers], request.redirect, request.signal.aborted, request.bodyUsed, request.duplex);
    const again = new Request(request, { headers: { x: "y" } });
    show(again.method, [...again.headers], await again.text(), request.bodyUsed);
    await failing("used request", () => new Request(request));
    const cloned = new Request("http://a/", { method: "PUT", body: "cloned" });
    show(await cloned.clone().text(), await cloned.text());

    const blob = new Blob(["hello ", new Uint8Array([119, 111]), new Blob(["rld"])], { type: "Text/Plain" });
    show(blob.size, blob.type, await blob.text(), await blob.slice(2, 8).text(), await blob.slice(-3, -1, "X/Y").text(), blob.slice(0, 1, "X/Y").type);
    let streamed = "";
    for await (const piece of blob.stream()) streamed += new TextDecoder().decode(piece);
    show(streamed, (await new Blob([]).text()) === "");
    const named = new File(["x"], "n", { type: "a/b", lastModified: 5 });
    show(named.name, named.lastModified, named instanceof Blob, Object.prototype.toString.call(named), Object.prototype.toString.call(blob));
    await failing("blob of text", () => new Blob("x"));

    const upper = new TransformStream({ transform: (chunk, controller) => controller.enqueue(chunk.toUpperCase()) });
    const source = new ReadableStream({
        pull(controller) {
            controller.enqueue(new Uint8Array([0xc3]));
            controller.enqueue(new Uint8Array([0xa4, 0x62]));
            controller.close();
        },
    });
    const out = [];
    await source.pipeThrough(new TextDecoderStream()).pipeThrough(upper).pipeTo(new WritableStream({ write: (chunk) => void out.push(chunk) }));
    show(out.join("|"));
    const [one, two] = new Response("tee").body.tee();
    show(await new Response(one).text(), await new Response(two).text());
}
main().then(() => show("done"), (error) => show("failed", String(error), error.stack));
