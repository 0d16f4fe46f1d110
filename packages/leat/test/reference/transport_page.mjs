// docs/reference/transport.md, from the declarations of `leat/transport` and what they say of themselves.
import { fileURLToPath } from "node:url";
import ts from "typescript";

const entry = fileURLToPath(new URL("../../src/transport/index.ts", import.meta.url));

const HEAD = `# Transport

Every option of [\`leat/transport\`](../guide/transport.md), what its built-in middleware and its adapters take and do, and the codes of its
errors. The page is made from the declarations in its sources; \`UPDATE=1 node --test packages/leat/test/reference.test.mjs\` writes it
anew.

A wrong option is refused when the transport or the middleware is made, by one \`TransportError\` with the code \`options.invalid\`, whose
message names the option and what it takes. Names end in their unit: \`Ms\` are milliseconds, \`BytesMax\` bytes.

`;

/** Title, and what stands below it: interfaces whose members are a table each, and functions. */
const SECTIONS = [
    ["`new Transport(options)`", "TransportOptions", "NodeOptions", "NodesOptions", "EjectionOptions", "HedgeOptions", "BodyLimits"],
    ["`transport.request(options)`", "RequestOptions"],
    ["`undici(options)`", "undici", "UndiciOptions"],
    ["`leat(options)`", "leat", "LeatOptions", "LeatTlsOptions"],
    ["`retry(options)`", "retry", "RetryOptions", "RetryBudgetOptions"],
    ["`deadline(options)`", "deadline", "DeadlineOptions"],
    ["`limits(options)`", "limits", "LimitsOptions"],
    ["`auth(options)`", "auth", "AuthOptions", "Token", "TokenRequest"],
    ["`compression(options)`", "compression", "CompressionOptions"],
    ["`product(options)`", "product", "ProductOptions", "ProductCheck"],
    ["`redaction(options)`", "redaction", "RedactionOptions"],
    ["`breaker(options)`", "breaker", "BreakerOptions"],
    ["`cache(options)`", "cache", "CacheOptions"],
    ["`bulkRetry(options)`", "bulkRetry", "BulkRetryOptions"],
    ["`openTelemetry(options)`", "openTelemetry", "OpenTelemetryOptions", "DatabaseOptions", "DatabaseOperation"],
    ["`diagnostics()`", "diagnostics", "CallStarted", "CallEnded", "AttemptStarted", "AttemptEnded"],
    ["`fetchBy(transport, options)`", "fetchBy", "FetchOptions"],
    ["`interceptor(middleware, options)`", "interceptor", "InterceptorOptions"],
    ["`elasticTransport(library, options)`", "elasticTransport", "ElasticAdapterOptions"],
];

/** The whole page, and the exported options that are not on it. */
export function transportPage() {
    const options = { target: ts.ScriptTarget.ES2022, lib: ["lib.es2022.d.ts"], types: ["node"], module: ts.ModuleKind.Node16, strict: true, skipLibCheck: true, noEmit: true };
    const checker = ts.createProgram([entry], options);
    const types = checker.getTypeChecker();
    const names = new Map();
    for (const symbol of types.getExportsOfModule(types.getSymbolAtLocation(checker.getSourceFile(entry)))) {
        names.set(symbol.name, symbol.flags & ts.SymbolFlags.Alias ? types.getAliasedSymbol(symbol) : symbol);
    }
    const shown = new Set(SECTIONS.flat());
    const missing = [...names.keys()].filter((name) => /Options$/.test(name) && !shown.has(name) && name !== "CallOptions");
    const gone = SECTIONS.flatMap(([, ...each]) => each).filter((name) => !names.has(name));
    const sections = SECTIONS.map(([title, ...each]) => `## ${title}\n\n${each.filter((name) => names.has(name)).map((name) => part(types, names.get(name))).join("\n")}`);
    return { page: `${HEAD}${sections.join("\n")}\n${codes(types, names.get("TransportErrorCode"))}`, missing, gone };
}

const docOf = (types, symbol) => ts.displayPartsToString(symbol.getDocumentationComment(types)).replaceAll(/\s+/g, " ").trim();

function part(types, symbol) {
    if (symbol.flags & ts.SymbolFlags.Function) return `${paragraphs(types, symbol)}\n`;
    const rows = types.getDeclaredTypeOfSymbol(symbol).getProperties().map((member) => row(types, member));
    const withDefault = rows.some(([, , value]) => value !== "");
    const head = withDefault ? "| | type | default | |\n| --- | --- | --- | --- |" : "| | type | |\n| --- | --- | --- |";
    const lines = rows.map(([name, type, value, text]) => (withDefault ? `| ${name} | ${type} | ${value} | ${text} |` : `| ${name} | ${type} | ${text} |`));
    return `### ${symbol.name}\n\n${paragraphs(types, symbol)}\n\n${head}\n${lines.join("\n")}\n`;
}

function paragraphs(types, symbol) {
    const text = ts.displayPartsToString(symbol.getDocumentationComment(types));
    // Code stands as it is.
    return text.split(/\n\s*\n/).map((each) => (each.startsWith("```") ? each : each.replaceAll(/\s+/g, " ").trim())).join("\n\n");
}

function row(types, member) {
    const [declaration] = member.declarations;
    const type = (declaration.type?.getText() ?? types.typeToString(types.getTypeOfSymbol(member))).replaceAll(/\/\*\*.*?\*\//gs, "").replaceAll(/\s+/g, " ");
    const text = docOf(types, member);
    const found = /\s*Defaults?: (.*)\.$/.exec(text);
    const name = `\`${member.name}\`${declaration.questionToken === undefined ? " (required)" : ""}`;
    return [name, `\`${type}\``, found?.[1] ?? "", found === null ? text : text.slice(0, found.index)].map((cell) => cell.replaceAll("|", "\\|"));
}

/** The members of the union of codes, each with the comment before it. */
function codes(types, symbol) {
    const text = symbol.declarations[0].getText();
    const rows = [...text.matchAll(/\/\*\*(.*?)\*\/\s*\|\s*"([a-z_.]+)"/gs)].map(([, doc, code]) => `| \`${code}\` | ${doc.replaceAll(/\s*\n\s*\*?\s*/g, " ").trim().replaceAll("|", "\\|")} |`);
    const all = text.match(/"[a-z_.]+"/g).length;
    if (rows.length !== all) throw new Error(`${all - rows.length} codes have no comment`);
    return `## Codes of errors\n\n${paragraphs(types, symbol)}\n\n| code | |\n| --- | --- |\n${rows.join("\n")}\n`;
}
