// A page in Chromium that calls by connect-web, from an origin of its own.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { here } from "./mock.mjs";
import { find, python, run } from "./tool.mjs";

const BROWSER_MS_MAX = 30_000;
/** What keeps Chromium from looking for Google's hosts. */
const QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** What a page asks by, with the options of connect-web. */
export const PAGE_PROTOCOLS = [["connect", {}], ["connect", { useBinaryFormat: true }], ["connect", { useHttpGet: true }], ["grpc-web", {}]];
/** What it finds where the rules of this folder answer. */
export const PAGE_FOUND = {
    say: ["re: hi", 7, [0, 255], ["a", "b"]], head: ["1", "end"], refuse: ["PermissionDenied", "no, grüße 100 %", 1], slow: "DeadlineExceeded", count: [0, 1, 2, 3, 4],
};

/** Serves the page, if it can be. `undefined`, and the test is skipped, where it can't. */
export async function servePage(t) {
    if (find(python) === undefined) {
        t.skip("the page's descriptors are made by grpcio-tools, which are not installed: tools/install.sh test");
        return undefined;
    }
    const folder = mkdtempSync(join(tmpdir(), "leat-clients-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const set = join(folder, "notes.binpb");
    const made = await run(python, ["-m", "grpc_tools.protoc", "-I", here, "--include_imports", `--descriptor_set_out=${set}`, "notes.proto"]);
    assert.equal(made.code, 0, made.stderr);
    const pages = createServer((request, response) => {
        const path = normalize(request.url ?? "/");
        const file = path === "/" ? join(here, "page.html") : path === "/notes.binpb" ? set : join(here, path);
        const types = { ".html": "text/html", ".js": "text/javascript" };
        try {
            const content = readFileSync(file);
            response.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream" }).end(content);
        } catch {
            response.writeHead(404).end();
        }
    }).listen(0, "127.0.0.1");
    await once(pages, "listening");
    t.after(() => { pages.close(); pages.closeAllConnections(); });
    return `http://127.0.0.1:${pages.address().port}`;
}

/** Opens the page, or skips the test; `ask` calls `baseUrl` from it, `origin` is where it comes from. */
export async function openPage(t, origin = servePage(t)) {
    const served = await origin;
    if (served === undefined) return undefined;
    const { chromium } = await import("playwright-core");
    const browser = await chromium.launch({ executablePath: find("chromium"), args: QUIET });
    t.after(() => browser.close());
    const page = await browser.newPage();
    page.setDefaultTimeout(BROWSER_MS_MAX);
    await page.goto(`${served}/`);
    await page.waitForFunction("window.loaded");
    return {
        origin: served,
        ask: (baseUrl, protocol, options) => page.evaluate(([base, name, more]) => window.ask(base, name, more), [baseUrl, protocol, options]),
    };
}
