// Deep equality, as of `util.isDeepStrictEqual`, `assert.deepStrictEqual` and, loosely, `assert.deepEqual`.

interface Types {
    isDate(value: unknown): value is Date;
    isRegExp(value: unknown): value is RegExp;
    isMap(value: unknown): boolean;
    isSet(value: unknown): boolean;
    isNativeError(value: unknown): value is Error;
    isBoxedPrimitive(value: unknown): value is { valueOf(): unknown };
    isAnyArrayBuffer(value: unknown): value is ArrayBuffer;
    isArgumentsObject(value: unknown): boolean;
    isWeakMap(value: unknown): boolean;
    isWeakSet(value: unknown): boolean;
    isPromise(value: unknown): boolean;
}

const types = require("./types") as Types;

/** Pairs that are being compared further up, so that circles end. */
type Above = Map<object, object>;

const enumerable = (object: object, symbol: symbol): boolean => Object.prototype.propertyIsEnumerable.call(object, symbol);
const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const tag = (value: object): string => Object.prototype.toString.call(value);

/** Own enumerable properties, with symbols if `strict`. */
function keys(object: object, strict: boolean): PropertyKey[] {
    const names: PropertyKey[] = Object.keys(object);
    if (strict) for (const symbol of Object.getOwnPropertySymbols(object)) if (enumerable(object, symbol)) names.push(symbol);
    return names;
}

/** As `==`, with NaN equal to itself. */
// eslint-disable-next-line eqeqeq -- what loose equality means.
const loosely = (one: unknown, other: unknown): boolean => one == other || (one !== one && other !== other);

export function isDeepEqual(one: unknown, other: unknown, strict: boolean, above: Above = new Map()): boolean {
    if (one === other) return one !== 0 || !strict || Object.is(one, other);
    if (strict) {
        if (!isObject(one) || !isObject(other)) return typeof one === "number" && Number.isNaN(one) && Number.isNaN(other);
        if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
    } else if (!isObject(one)) return !isObject(other) && loosely(one, other);
    else if (!isObject(other)) return false;
    if (tag(one) !== tag(other)) return false;
    if (Array.isArray(one)) {
        if (!Array.isArray(other) || one.length !== other.length) return false;
    } else if (Array.isArray(other)) return false;
    else if (!sameKind(one, other, strict)) return false;
    if (above.get(one) === other) return true;
    above.set(one, other);
    const equal = sameProperties(one, other, strict, above) && sameEntries(one, other, strict, above);
    above.delete(one);
    return equal;
}

/** Whether what two objects are beside their properties is the same. */
function sameKind(one: object, other: object, strict: boolean): boolean {
    if (types.isDate(one)) return types.isDate(other) && Object.is(one.getTime(), other.getTime());
    if (types.isRegExp(one)) return types.isRegExp(other) && one.source === other.source && one.flags === other.flags && one.lastIndex === other.lastIndex;
    if (types.isNativeError(one) || one instanceof Error) {
        const [a, b] = [one as Error, other as Error];
        if (!(types.isNativeError(other) || other instanceof Error) || a.message !== b.message || a.name !== b.name) return false;
        for (const name of ["cause", "errors"] as const) {
            const has = Object.hasOwn(a, name);
            if (has !== Object.hasOwn(b, name)) return false;
            if (has && !isDeepEqual((a as unknown as Record<string, unknown>)[name], (b as unknown as Record<string, unknown>)[name], strict)) return false;
        }
        return true;
    }
    if (ArrayBuffer.isView(one)) {
        if (!ArrayBuffer.isView(other) || one.byteLength !== other.byteLength) return false;
        if (!strict && (one instanceof Float32Array || one instanceof Float64Array)) {
            const floats = other as Float64Array;
            return one.every((value, at) => value === floats[at]);
        }
        return sameBytes(one.buffer, one.byteOffset, other.buffer, other.byteOffset, one.byteLength);
    }
    if (types.isAnyArrayBuffer(one)) {
        return types.isAnyArrayBuffer(other) && one.byteLength === other.byteLength && sameBytes(one, 0, other, 0, one.byteLength);
    }
    if (types.isBoxedPrimitive(one)) return types.isBoxedPrimitive(other) && Object.is(one.valueOf(), other.valueOf());
    if (types.isMap(one)) return types.isMap(other) && (one as Map<unknown, unknown>).size === (other as Map<unknown, unknown>).size;
    if (types.isSet(one)) return types.isSet(other) && (one as Set<unknown>).size === (other as Set<unknown>).size;
    if (types.isWeakMap(one) || types.isWeakSet(one) || types.isPromise(one)) return false;
    return types.isArgumentsObject(one) === types.isArgumentsObject(other);
}

function sameBytes(one: ArrayBufferLike, from: number, other: ArrayBufferLike, otherFrom: number, length: number): boolean {
    const a = new Uint8Array(one, from, length);
    const b = new Uint8Array(other, otherFrom, length);
    for (let at = 0; at < length; at++) if (a[at] !== b[at]) return false;
    return true;
}

function sameProperties(one: object, other: object, strict: boolean, above: Above): boolean {
    // The elements were compared as bytes, and what else is on an array of bytes is rare.
    if (ArrayBuffer.isView(one) && !("then" in one) && Object.keys(one).length === (one as Uint8Array).length) {
        return Object.keys(other).length === (other as Uint8Array).length;
    }
    const names = keys(one, strict);
    if (names.length !== keys(other, strict).length) return false;
    for (const name of names) if (!Object.prototype.propertyIsEnumerable.call(other, name)) return false;
    for (const name of names) {
        if (!isDeepEqual((one as Record<PropertyKey, unknown>)[name], (other as Record<PropertyKey, unknown>)[name], strict, above)) return false;
    }
    return true;
}

function sameEntries(one: object, other: object, strict: boolean, above: Above): boolean {
    if (types.isSet(one)) return sameSet(one as Set<unknown>, other as Set<unknown>, strict, above);
    if (types.isMap(one)) return sameMap(one as Map<unknown, unknown>, other as Map<unknown, unknown>, strict, above);
    return true;
}

/** Takes out of `rest` one that is equal to `value`; whether there was one. */
function takeEqual<T>(rest: Set<T>, equal: (other: T) => boolean): boolean {
    for (const other of rest) {
        if (equal(other)) {
            rest.delete(other);
            return true;
        }
    }
    return false;
}

function sameSet(one: Set<unknown>, other: Set<unknown>, strict: boolean, above: Above): boolean {
    const rest = new Set<unknown>();
    for (const value of other) if (!one.has(value)) rest.add(value);
    for (const value of one) {
        if (other.has(value)) continue;
        if (strict && !isObject(value)) return false;
        if (!takeEqual(rest, (candidate) => isDeepEqual(value, candidate, strict, above))) return false;
    }
    return true;
}

function sameMap(one: Map<unknown, unknown>, other: Map<unknown, unknown>, strict: boolean, above: Above): boolean {
    const rest = new Set<[unknown, unknown]>();
    for (const entry of other) if (!one.has(entry[0])) rest.add(entry);
    for (const [key, value] of one) {
        if (other.has(key)) {
            if (!isDeepEqual(value, other.get(key), strict, above)) return false;
            continue;
        }
        if (strict && !isObject(key)) return false;
        const equal = ([otherKey, otherValue]: [unknown, unknown]): boolean =>
            isDeepEqual(key, otherKey, strict, above) && isDeepEqual(value, otherValue, strict, above);
        if (!takeEqual(rest, equal)) return false;
    }
    return true;
}
