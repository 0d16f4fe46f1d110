// `error.stack` as programs know it: `Name: message`, then the frames. QuickJS keeps the frames alone; the rest is put together
// when somebody reads it, so that an error that nobody prints costs what it cost before.

type Getter = (this: unknown) => unknown;
type Prepare = (error: unknown, sites: unknown[]) => unknown;

/** Where a frame really is, for sources that were translated; `undefined` if it is where it says. */
type FrameMap = (file: string, line: number, column: number) => readonly [string, number, number] | undefined;

const ErrorClass = Error as unknown as Record<string, unknown> & ErrorConstructor & { prepareStackTrace: unknown };
const prototype = Error.prototype;
const raw = (Object.getOwnPropertyDescriptor(prototype, "stack") as { get: Getter }).get;
const capture = ErrorClass.captureStackTrace as (target: object, above?: unknown) => void;
const preparing = Object.getOwnPropertyDescriptor(ErrorClass, "prepareStackTrace") as { set(this: unknown, value: unknown): void };

/** Frames that V8 does not have: what is called by these is called by who called them. */
const PASSING = new Set(["    at call (native)", "    at apply (native)"]);
const passing = (site: object): boolean => {
    const { getFunctionName, isNative } = site as { getFunctionName(): string | null; isNative(): boolean };
    if (!isNative.call(site)) return false;
    const name = getFunctionName.call(site);
    return name === "call" || name === "apply";
};

let map: FrameMap | undefined;
let prepare: unknown;

/** Frames of translated sources are shown where `translate` says. */
export function mapFrames(translate: FrameMap): void {
    map = translate;
}

/** `Name: message` as they are when the stack is first read. */
function head(error: object): string {
    try {
        // Node's own errors have theirs, with their code: `TypeError [ERR_INVALID_ARG_TYPE]: …`.
        if (Object.hasOwn(error, "toString")) return String(error);
        return prototype.toString.call(error);
    } catch {
        return "Error";
    }
}

/** One line of QuickJS's, `    at name (file:line:column)`. */
function frame(line: string): string {
    const open = line.lastIndexOf(" (");
    if (open < 0 || !line.endsWith(")")) return line;
    const name = line.slice(7, open);
    let place = line.slice(open + 2, -1);
    if (place === "native") return `    at ${name} (<anonymous>)`;
    if (map !== undefined) {
        const found = /^(.*):(\d+):(\d+)$/.exec(place);
        const mapped = found === null ? undefined : map(found[1] as string, Number(found[2]), Number(found[3]));
        if (mapped !== undefined) place = mapped.join(":");
    }
    return name === "<anonymous>" ? `    at ${place}` : `    at ${name} (${place})`;
}

/** The frames of `text`, each on a line of its own that begins with a line feed. */
function frames(text: string): string {
    let out = "";
    for (const line of text.split("\n")) if (line !== "" && !PASSING.has(line)) out += `\n${frame(line)}`;
    return out;
}

/** Whether `stack` is QuickJS's own text, which no `prepareStackTrace` of the program's made. */
function isRaw(stack: unknown): stack is string {
    return typeof stack === "string" && (stack === "" || (stack.startsWith("    at ") && stack.endsWith("\n")));
}

/** What was read once stays, as on V8. */
function keep(target: object, value: unknown): void {
    Reflect.defineProperty(target, "stack", { value, writable: true, configurable: true, enumerable: false });
}

function captureStackTrace(target: object, above?: unknown): void {
    capture(target, typeof above === "function" ? above : captureStackTrace);
    const own = (target as { stack?: unknown }).stack;
    if (!isRaw(own)) return;
    Object.defineProperty(target, "stack", {
        configurable: true,
        enumerable: false,
        get() {
            const stack = head(target) + frames(own);
            keep(target, stack);
            return stack;
        },
        set(value: unknown) {
            keep(this as object, value);
        },
    });
}

/** What V8's call sites have and QuickJS's have not; put on their class when the program first asks for call sites. */
function completeSites(): void {
    let site: object | undefined;
    preparing.set.call(ErrorClass, (_: unknown, sites: object[]) => void (site = sites[0]));
    capture({}, undefined);
    if (site === undefined) return;
    type Site = { getFileName(): string; getLineNumber(): number; getColumnNumber(): number; getFunctionName(): string; isNative(): boolean };
    const methods: Record<string, (this: never) => unknown> = {
        getThis: () => undefined,
        getTypeName: () => null,
        getMethodName: () => null,
        getEvalOrigin: () => undefined,
        getScriptNameOrSourceURL(this: Site) {
            return this.getFileName();
        },
        getScriptHash: () => "",
        getEnclosingLineNumber: () => 0,
        getEnclosingColumnNumber: () => 0,
        getPosition: () => 0,
        getPromiseIndex: () => null,
        isToplevel: () => true,
        isEval: () => false,
        isConstructor: () => false,
        isAsync: () => false,
        isPromiseAll: () => false,
        toString(this: Site) {
            const name = this.getFunctionName();
            const place = this.isNative() ? "<anonymous>" : `${this.getFileName()}:${this.getLineNumber()}:${this.getColumnNumber()}`;
            return name ? `${name} (${place})` : place;
        },
    };
    const proto = Object.getPrototypeOf(site) as object;
    for (const [name, value] of Object.entries(methods)) {
        if (!Object.hasOwn(proto, name)) Object.defineProperty(proto, name, { value, writable: true, configurable: true, enumerable: false });
    }
}

/** Puts it all in place; called once, before the program. */
export function install(): void {
    Object.defineProperty(prototype, "stack", {
        configurable: true,
        enumerable: false,
        get(this: object) {
            const stack = raw.call(this);
            if (!isRaw(stack)) return stack;
            const text = head(this) + frames(stack);
            keep(this, text);
            return text;
        },
        set(this: object, value: unknown) {
            if (this !== prototype) keep(this, value);
        },
    });
    Object.defineProperty(ErrorClass, "captureStackTrace", { value: captureStackTrace, writable: true, configurable: true, enumerable: false });
    let complete = false;
    Object.defineProperty(ErrorClass, "prepareStackTrace", {
        configurable: true,
        enumerable: false,
        get: () => prepare,
        set(value: unknown) {
            if (typeof value === "function" && !complete) {
                complete = true;
                completeSites();
            }
            prepare = value;
            const wrapped = (error: unknown, sites: object[]): unknown => (value as Prepare).call(ErrorClass, error, sites.filter((site) => !passing(site)));
            preparing.set.call(ErrorClass, typeof value === "function" ? wrapped : undefined);
        },
    });
}
