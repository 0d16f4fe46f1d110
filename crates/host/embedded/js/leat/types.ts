// `util.types`: what a value is, by QuickJS's own classes, so that no prototype deceives.

const { kind } = native("types") as { kind(value: unknown): number };

type Check = (value: unknown) => boolean;

/** A check for objects of the class that `sample` is of. */
function like(make: () => unknown): Check {
    let wanted: number | undefined;
    return (value) => typeof value === "object" && value !== null && kind(value) === (wanted ??= kind(make()));
}

/** A check for functions of the class that `sample` is of. */
function functionLike(make: () => unknown): Check {
    let wanted: number | undefined;
    return (value) => typeof value === "function" && kind(value) === (wanted ??= kind(make()));
}

const typedTag = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get as (this: unknown) => string | undefined;

const typed =
    (name: string): Check =>
    (value) =>
        typedTag.call(value) === name;

function* generate(): Generator {}
async function* generateAsync(): AsyncGenerator {}

const isAsync = functionLike(() => async () => {});
const isGenerator = functionLike(() => generate);
const isAsyncGenerator = functionLike(() => generateAsync);
const isProxyObject = like(() => new Proxy({}, {}));
const isMapIterator = like(() => new Map().keys());
const isSetIterator = like(() => new Set().values());
const isNumberObject = like(() => Object(1));
const isStringObject = like(() => Object(""));
const isBooleanObject = like(() => Object(true));
const isBigIntObject = like(() => Object(1n));
const isSymbolObject = like(() => Object(Symbol.iterator));
const isArrayBuffer = like(() => new ArrayBuffer(0));
const isSharedArrayBuffer = like(() => new SharedArrayBuffer(0));
const isError = like(() => new Error());
const isArguments = like(function (this: unknown) {
    return arguments;
});
const isMappedArguments = like(() => new Function("a", "return arguments")());

const types: Record<string, Check> = {
    isExternal: () => false,
    isDate: like(() => new Date()),
    isArgumentsObject: (value) => isArguments(value) || isMappedArguments(value),
    isBigIntObject,
    isBooleanObject,
    isNumberObject,
    isStringObject,
    isSymbolObject,
    isBoxedPrimitive: (value) => isNumberObject(value) || isStringObject(value) || isBooleanObject(value) || isBigIntObject(value) || isSymbolObject(value),
    isNativeError: isError,
    isRegExp: like(() => /./),
    isAsyncFunction: (value) => isAsync(value) || isAsyncGenerator(value),
    isGeneratorFunction: (value) => isGenerator(value) || isAsyncGenerator(value),
    isGeneratorObject: ((sync, asynchronous) => (value: unknown) => sync(value) || asynchronous(value))(like(() => generate()), like(() => generateAsync())),
    isPromise: like(() => Promise.resolve()),
    isMap: like(() => new Map()),
    isSet: like(() => new Set()),
    isMapIterator,
    isSetIterator,
    isWeakMap: like(() => new WeakMap()),
    isWeakSet: like(() => new WeakSet()),
    isArrayBuffer,
    isDataView: like(() => new DataView(new ArrayBuffer(0))),
    isSharedArrayBuffer,
    isProxy: (value) => isProxyObject(value) || (typeof value === "function" && kind(value) === kind(new Proxy(() => {}, {}))),
    isModuleNamespaceObject: (value) => typeof value === "object" && value !== null && Object.prototype.toString.call(value) === "[object Module]" && Object.getPrototypeOf(value) === null,
    isAnyArrayBuffer: (value) => isArrayBuffer(value) || isSharedArrayBuffer(value),
    isCryptoKey: (value) => Object.prototype.toString.call(value) === "[object CryptoKey]",
    isKeyObject: (value) => typeof value === "object" && value !== null && Object.getPrototypeOf(value)?.constructor?.name?.endsWith?.("KeyObject") === true,
    isArrayBufferView: ArrayBuffer.isView,
    isTypedArray: (value) => typedTag.call(value) !== undefined,
};
for (const name of [
    "Uint8Array", "Uint8ClampedArray", "Uint16Array", "Uint32Array", "Int8Array", "Int16Array", "Int32Array", "Float16Array", "Float32Array", "Float64Array",
    "BigInt64Array", "BigUint64Array",
]) types[`is${name}`] = typed(name);

module.exports = types;
