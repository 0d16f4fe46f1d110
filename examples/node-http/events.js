/** A client that has this many bytes to read still is cut off, and may come back. */
const BEHIND_BYTES_MAX = 1024 * 1024;
const LISTENERS_MAX = 1_000;

const listeners = new Set();

/** Server-sent events of all changes from now on, until the client goes. */
function subscribe(response) {
    if (listeners.size === LISTENERS_MAX) return void response.writeHead(503, { "retry-after": 10 }).end();
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    // A comment, so that the client sees at once that it is heard.
    response.write(": welcome\n\n");
    listeners.add(response);
    response.on("close", () => listeners.delete(response));
}

/** Tells all listeners of a change. */
function publish(event, value) {
    const text = `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`;
    for (const response of listeners) {
        if (response.writableLength > BEHIND_BYTES_MAX) response.destroy();
        else response.write(text);
    }
}

module.exports = { publish, subscribe };
