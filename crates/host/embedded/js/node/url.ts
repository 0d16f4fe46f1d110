// node:url: the WHATWG classes of `leat:web/url`, and the functions that Node had before them, from the package url.
import { codes } from "../leat/errors";
import { validateString } from "../leat/validate";

interface Web {
    readonly URL: typeof URL;
    readonly URLSearchParams: typeof URLSearchParams;
}

interface Legacy {
    parse(url: string, query?: boolean, slashes?: boolean): LegacyUrl;
    resolve(from: string, to: string): string;
    resolveObject(from: string, to: string): LegacyUrl;
    format(url: unknown): string;
    Url: new () => LegacyUrl;
}

type LegacyUrl = Record<string, unknown>;

interface FormatOptions {
    readonly fragment?: boolean;
    readonly unicode?: boolean;
    readonly search?: boolean;
    readonly auth?: boolean;
}

const web = (): Web => require("leat:web/url") as Web;
const legacy = (): Legacy => require("../leat/url_legacy") as Legacy;

function parse(url: unknown, query?: boolean, slashes?: boolean): LegacyUrl {
    if (url instanceof legacy().Url) return url as LegacyUrl;
    validateString(url, "url");
    return legacy().parse(url, query, slashes);
}

function format(url: unknown, options?: FormatOptions): string {
    if (typeof url === "string") return legacy().format(parse(url));
    if (url === null || typeof url !== "object") throw new codes.ERR_INVALID_ARG_TYPE("urlObject", ["Object", "string"], url);
    if (!(url instanceof web().URL)) return legacy().format(url);
    const { fragment = true, search = true, auth = true } = options ?? {};
    const copy = new (web().URL)(url.href);
    if (!fragment) copy.hash = "";
    if (!search) copy.search = "";
    if (!auth) {
        copy.username = "";
        copy.password = "";
    }
    return copy.href;
}

function fileURLToPath(given: string | URL): string {
    const url = typeof given === "string" ? new (web().URL)(given) : given;
    if (url === null || typeof url !== "object" || !("href" in url)) throw new codes.ERR_INVALID_ARG_TYPE("path", ["string", "URL"], given);
    if (url.protocol !== "file:") throw Object.assign(new TypeError("The URL must be of scheme file"), { code: "ERR_INVALID_URL_SCHEME" });
    if (url.hostname !== "") throw Object.assign(new TypeError('File URL host must be "localhost" or empty on linux'), { code: "ERR_INVALID_FILE_URL_HOST" });
    if (/%2f/i.test(url.pathname)) throw Object.assign(new TypeError("File URL path must not include encoded / characters"), { code: "ERR_INVALID_FILE_URL_PATH" });
    return decodeURIComponent(url.pathname);
}

function pathToFileURL(path: string): URL {
    validateString(path, "path");
    const { resolve } = require("node:path") as typeof import("node:path");
    let whole = resolve(path);
    if (path.endsWith("/") && !whole.endsWith("/")) whole += "/";
    const escaped = whole.replace(/[%\\\n\r\t?#]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
    return new (web().URL)(`file://${escaped}`);
}

function urlToHttpOptions(url: URL): Record<string, unknown> {
    const { hostname, port, username, password } = url;
    const options: Record<string, unknown> = {
        ...url,
        protocol: url.protocol,
        hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
        hash: url.hash,
        search: url.search,
        pathname: url.pathname,
        path: `${url.pathname || ""}${url.search || ""}`,
        href: url.href,
    };
    if (port !== "") options["port"] = Number(port);
    if (username || password) options["auth"] = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return options;
}

module.exports = {
    get Url() {
        return legacy().Url;
    },
    parse,
    resolve: (from: string, to: string): string => legacy().resolve(from, to),
    resolveObject: (from: string, to: string): LegacyUrl => legacy().resolveObject(from, to),
    format,
    get URL() {
        return web().URL;
    },
    get URLSearchParams() {
        return web().URLSearchParams;
    },
    domainToASCII(domain: string): string {
        const { toASCII } = require("node:punycode") as { toASCII(text: string): string };
        return toASCII(`${domain}`.toLowerCase());
    },
    domainToUnicode(domain: string): string {
        const { toUnicode } = require("node:punycode") as { toUnicode(text: string): string };
        return toUnicode(`${domain}`);
    },
    pathToFileURL,
    fileURLToPath,
    urlToHttpOptions,
};
