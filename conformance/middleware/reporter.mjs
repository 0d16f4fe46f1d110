// Prints what failed and the sum: the passes of four runs would bury them.
export default async function* failures(source) {
    let passed = 0;
    let failed = 0;
    for await (const { type, data } of source) {
        // A file is reported as a test too.
        if (type === "test:stderr" || type === "test:stdout") yield data.message;
        if (type === "test:pass" && !data.name.endsWith(".mjs")) passed += 1;
        if (type !== "test:fail") continue;
        if (!data.name.endsWith(".mjs")) failed += 1;
        const { cause } = data.details.error;
        yield `FAIL ${data.name}\n${cause?.stack ?? cause ?? data.details.error.message}\n`;
    }
    yield `${passed} passed, ${failed} failed\n`;
}
