// npm's `debug` for the packages that Express uses: it is loaded where DEBUG asks for it, and says nothing elsewhere.
interface Debug {
    (...values: unknown[]): void;
    enabled: boolean;
}

function silent(): Debug {
    return Object.assign(() => undefined, { enabled: false, log: undefined, destroy: () => true, extend: silent });
}

export = process.env["DEBUG"] ? (require("debug") as unknown) : silent;
