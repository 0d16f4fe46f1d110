// node:constants: everything that `os.constants`, `fs.constants` and `crypto.constants` have.
const { errno, signals, priority, dlopen } = (require("node:os") as typeof import("node:os")).constants;

function of(name: string): object {
    try {
        return (require(name) as { constants?: object }).constants ?? {};
    } catch {
        return {};
    }
}

module.exports = { ...dlopen, ...errno, ...priority, ...signals, ...of("node:fs"), ...of("node:crypto") };
