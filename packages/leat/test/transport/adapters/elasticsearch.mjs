// A server on loopback that answers as Elasticsearch does, as far as the tests ask: documents in memory, searches by a field's value,
// bulk, and whatever a test wants to go wrong.
import { once } from "node:events";
import { createServer } from "node:http";
import { gzipSync, gunzipSync } from "node:zlib";

const TYPE = "application/vnd.elasticsearch+json;compatible-with=9";

/** Starts one for the test `t`. `trouble(exchange)` may answer first, by returning `{ status, body, headers }`, `"silent"` or `"broken"`. */
export async function elasticsearch(t, trouble = () => undefined) {
    const documents = new Map();
    const seen = [];
    const server = createServer(async (request, reply) => {
        reply.on("error", () => {});
        request.on("error", () => {});
        const pieces = [];
        try {
            for await (const piece of request) pieces.push(piece);
        } catch {
            return;
        }
        const raw = Buffer.concat(pieces);
        const body = (request.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw).toString();
        const { pathname, searchParams } = new URL(request.url, "http://a");
        const exchange = { number: seen.length, method: request.method, path: request.url, headers: request.headers, body };
        seen.push(exchange);
        const answer = trouble(exchange) ?? answered(documents, request.method, pathname, searchParams, body);
        if (answer === "silent") return;
        if (answer === "broken") {
            reply.destroy();
            return;
        }
        const { status = 200, headers = {} } = answer;
        const text = answer.body === undefined ? "" : typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
        const isCompressed = /gzip/.test(request.headers["accept-encoding"] ?? "") && text.length > 100;
        reply.writeHead(status, { "x-elastic-product": "Elasticsearch", "content-type": TYPE, ...(isCompressed ? { "content-encoding": "gzip" } : {}), ...headers });
        reply.end(isCompressed ? gzipSync(text) : text);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => {
        server.closeAllConnections();
        server.close();
    });
    return { url: `http://127.0.0.1:${server.address().port}`, seen };
}

function answered(documents, method, path, query, text) {
    const [, index, action, id] = path.split("/");
    if (path === "/") return { body: { name: "a", cluster_name: "b", version: { number: "9.4.0" }, tagline: "You Know, for Search" } };
    if (action === "_bulk" || index === "_bulk") return { body: bulk(documents, text) };
    if (action === "_search") return { body: search(documents, index, text) };
    if (action === "_doc" || action === "_create") {
        const key = `${index}/${id}`;
        if (method === "PUT" || method === "POST") {
            const isNew = !documents.has(key);
            if (action === "_create" && !isNew) return { status: 409, body: error("version_conflict_engine_exception", `[${id}]: version conflict`, 409) };
            documents.set(key, JSON.parse(text));
            return { status: isNew ? 201 : 200, body: { _index: index, _id: id, result: isNew ? "created" : "updated" } };
        }
        const source = documents.get(key);
        if (method === "DELETE") return { status: documents.delete(key) ? 200 : 404, body: { _index: index, _id: id, result: source ? "deleted" : "not_found" } };
        return source === undefined ? { status: 404, body: { _index: index, _id: id, found: false } } : { body: { _index: index, _id: id, found: true, _source: source } };
    }
    if (action === undefined && method === "HEAD") return { status: [...documents.keys()].some((key) => key.startsWith(`${index}/`)) ? 200 : 404 };
    return { status: 400, body: error("illegal_argument_exception", `no ${method} ${path}?${query}`, 400) };
}

function bulk(documents, text) {
    const lines = text.trim().split("\n").map((line) => JSON.parse(line));
    const items = [];
    for (let at = 0; at < lines.length; at += 2) {
        const { _index, _id } = lines[at].index;
        documents.set(`${_index}/${_id}`, lines[at + 1]);
        items.push({ index: { _index, _id, status: 201 } });
    }
    return { took: 1, errors: false, items };
}

function search(documents, index, text) {
    const term = text === "" ? undefined : Object.entries(JSON.parse(text).query?.term ?? {})[0];
    const hits = [...documents].filter(([key, source]) => key.startsWith(`${index}/`) && (term === undefined || source[term[0]] === term[1]));
    return { took: 1, timed_out: false, hits: { total: { value: hits.length, relation: "eq" }, hits: hits.map(([key, _source]) => ({ _index: index, _id: key.split("/")[1], _source })) } };
}

const error = (type, reason, status) => ({ error: { type, reason, root_cause: [{ type, reason }] }, status });
