// A server of the subject for one test: on port 0, and closed with everything it holds when the test is over.
import { once } from "node:events";
import { http } from "../subject.mjs";

export async function listening(t, handler, options = {}) {
    const server = http.createServer(options, handler);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(async () => {
        const closed = once(server, "close");
        server.close();
        server.closeAllConnections();
        await closed;
    });
    return server;
}
