// TextEncoder, TextDecoder, atob and btoa.
const show = (value) => console.log(JSON.stringify(value));
const encoder = new TextEncoder();
for (const text of ["", "abc", "äöü€😀", "\ud800", "a\udc00b", undefined, 5, null]) show([...encoder.encode(text)]);
for (const [text, size] of [["äöü", 3], ["😀a", 3], ["😀a", 5], ["abc", 0], ["abc", 10]]) {
    const into = new Uint8Array(size);
    show([encoder.encodeInto(text, into), [...into]]);
}
const bytes = (...list) => new Uint8Array(list);
for (const [label, list] of [
    ["utf-8", [0xef, 0xbb, 0xbf, 0x61]], ["utf8", [0xff, 0x61]], ["utf-8", [0xe2, 0x82]], ["utf-8", [0xf0, 0x9f, 0x98, 0x80]], ["UTF-16LE", [0x61, 0, 0x3d, 0xd8, 0, 0xde]],
    ["utf-16le", [0x61]], ["latin1", [0xe4]], [" utf-8 ", [0x61]], ["ascii", [0xe4]], ["utf-8", [0xed, 0xa0, 0x80]], ["utf-8", [0xc0, 0x80]],
]) {
    const decoder = new TextDecoder(label);
    show([decoder.encoding, decoder.fatal, decoder.ignoreBOM, decoder.decode(bytes(...list))]);
}
show(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes(0xef, 0xbb, 0xbf, 0x61)));
for (const list of [[0xff], [0xe2, 0x82], [0x61]]) {
    try {
        show(new TextDecoder("utf-8", { fatal: true }).decode(bytes(...list)));
    } catch (error) {
        show([error.name, error.code, error.message]);
    }
}
try {
    new TextDecoder("nonsense");
} catch (error) {
    show([error.name, error.code, error.message]);
}
const whole = encoder.encode("\ufeffaä€😀\ufeffz");
for (const step of [1, 2, 3]) {
    const decoder = new TextDecoder();
    let text = "";
    for (let at = 0; at < whole.length; at += step) text += decoder.decode(whole.subarray(at, at + step), { stream: true });
    text += decoder.decode();
    show([step, text, decoder.decode(bytes(0xef, 0xbb, 0xbf, 0x62))]);
}
show([new TextDecoder().decode(whole.buffer), new TextDecoder().decode(new DataView(whole.buffer, 3, 2)), new TextDecoder().decode()]);
show([btoa("hello"), atob("aGVsbG8="), atob(" aGVs bG8 ")]);
for (const call of [() => btoa("€"), () => atob("a"), () => atob("*")]) {
    try {
        call();
    } catch (error) {
        show([error.name, error.code, error instanceof DOMException]);
    }
}
