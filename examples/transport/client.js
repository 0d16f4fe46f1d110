// The client of the depot, as the author of an SDK would publish it.
"use strict";
const { auth, compression, limits, product, retry, secret, Transport, TransportError } = require("leat/transport");
const { requestId } = require("./request_id");
const { timing } = require("./timing");

class DepotClient {
    /** Tells of each call that is over: method, path, status, milliseconds. */
    constructor({ nodes, key, onCall }) {
        const apiKey = secret(key);
        // A client of its own, since what gets tokens needs none.
        this.tokens = new Transport({ nodes, throwStatus: true, timeoutMs: 5000 });
        this.transport = new Transport({
            nodes,
            timeoutMs: 5000,
            middleware: [
                timing(onCall),
                product({ headers: { "user-agent": "depot-client/1.0", accept: "application/json" } }),
                limits({ decodedBytesMax: 1_000_000 }),
                retry({ retriesMax: 2, baseMs: 20 }),
                requestId(),
                auth({ bearer: () => this.token(apiKey) }),
                compression(),
            ],
            throwStatus: true,
        });
    }

    async token(apiKey) {
        const { body } = await this.tokens.request({ method: "POST", path: "/token", headers: { "x-api-key": apiKey } });
        return body.token;
    }

    /** An item, or undefined if the depot has none of that name. */
    async item(name) {
        try {
            const { body } = await this.transport.request({ path: `/items/${encodeURIComponent(name)}`, route: "GET /items/{name}" });
            return body;
        } catch (error) {
            if (error instanceof TransportError && error.response?.status === 404) return undefined;
            throw error;
        }
    }

    async order(name, count) {
        const { body } = await this.transport.request({ method: "POST", path: "/orders", body: { name, count } });
        return body;
    }

    async leaflet() {
        const { body } = await this.transport.request({ path: "/leaflet" });
        return body.text;
    }

    async close() {
        await Promise.all([this.transport.close(), this.tokens.close()]);
    }
}

module.exports = { DepotClient };
