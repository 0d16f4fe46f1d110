// EventTarget, Event, AbortController, AbortSignal, structuredClone and DOMException.
const show = (...values) => console.log(JSON.stringify(values));
const caught = (name, call) => {
    try {
        show(name, call());
    } catch (error) {
        show(name, error.name, error.code ?? null, error.message);
    }
};
const target = new EventTarget();
const order = [];
const listener = { handleEvent: (event) => order.push(`object ${event.type}`) };
target.addEventListener("x", (event) => order.push("first", event.currentTarget === target, event.eventPhase));
target.addEventListener("x", () => order.push("once"), { once: true });
target.addEventListener("x", listener);
target.addEventListener("x", listener);
target.addEventListener("x", function (event) {
    order.push(this === target, event.target === target);
});
const first = new Event("x", { cancelable: true });
show(target.dispatchEvent(first), first.currentTarget, first.eventPhase, order);
order.length = 0;
target.removeEventListener("x", listener);
target.addEventListener("x", (event) => event.preventDefault());
target.addEventListener("x", (event) => event.stopImmediatePropagation());
target.addEventListener("x", () => order.push("never"));
show(target.dispatchEvent(new Event("x", { cancelable: true })), target.dispatchEvent(new Event("x")), order);
const custom = new CustomEvent("c", { detail: { a: 1 } });
show(custom.detail, custom.type, custom instanceof Event, Object.prototype.toString.call(custom), custom.bubbles, custom.cancelable, custom.defaultPrevented);
caught("no event", () => target.dispatchEvent({}));
const controller = new AbortController();
const { signal } = controller;
show(signal.aborted, signal.reason === undefined, signal instanceof EventTarget, controller.signal === signal);
signal.onabort = (event) => show("onabort", event.type, event.target === signal);
signal.addEventListener("abort", () => show("listener"));
const target2 = new EventTarget();
target2.addEventListener("y", () => show("heard while not aborted"), { signal });
target2.dispatchEvent(new Event("y"));
const any = AbortSignal.any([signal, new AbortController().signal]);
any.addEventListener("abort", () => show("any", any.reason === signal.reason));
controller.abort();
controller.abort(new Error("second"));
target2.dispatchEvent(new Event("y"));
show(signal.aborted, signal.reason.name, signal.reason.message, signal.reason.code, signal.reason instanceof DOMException, any.aborted);
caught("throwIfAborted", () => signal.throwIfAborted());
caught("abort reason", () => AbortSignal.abort("why").throwIfAborted());
show(AbortSignal.any([AbortSignal.abort(5)]).reason, AbortSignal.abort().reason.name);
caught("no constructor", () => new AbortSignal());
const exception = new DOMException("message", "NotFoundError");
show(exception.name, exception.message, exception.code, exception instanceof Error, DOMException.ABORT_ERR, String(exception));
show(new DOMException().name, new DOMException("x").code);

const circle = { name: "circle", list: [1, , 3], date: new Date(5), re: /a+/gi, big: 10n, nested: { undefined: undefined } };
circle.self = circle;
circle.map = new Map([["k", new Set([1, circle])]]);
const copy = structuredClone(circle);
show(copy !== circle, copy.self === copy, copy.list, 1 in copy.list, copy.date.getTime(), String(copy.re), String(copy.big), "undefined" in copy.nested);
show([...copy.map.get("k")][1] === copy);
const bytes = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
const cloned = structuredClone({ bytes, view: new DataView(bytes.buffer, 1) });
show([...cloned.bytes], cloned.bytes.byteOffset, cloned.view.buffer === cloned.bytes.buffer, cloned.view.byteLength);
const error = structuredClone(new RangeError("bad", { cause: { a: 1 } }));
show(error instanceof RangeError, error.name, error.message, error.cause);
show(structuredClone(Object(5)) instanceof Number, structuredClone(null), structuredClone("text"), structuredClone(new (class A { x = 1 })()).constructor === Object);
caught("function", () => structuredClone(() => 1));
caught("symbol", () => structuredClone(Symbol("s")));
show((() => {
    try {
        structuredClone({ f() {} });
    } catch (thrown) {
        return [thrown.name, thrown.code, thrown instanceof DOMException];
    }
})());
const moved = new ArrayBuffer(8);
const kept = structuredClone({ moved }, { transfer: [moved] });
show(moved.byteLength, kept.moved.byteLength);
