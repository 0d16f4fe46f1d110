// What spans and durations say of a call, by the stable semantic conventions for HTTP clients and for databases.
import { type Request } from "../../middleware/message";
import { type Call, type CallOptions } from "../call";
import { TransportError } from "../error";
import { type Attributes } from "./open_telemetry_api";

/** What a call does in a database, as far as it is known; for the name of its span and `db.…`. */
export interface DatabaseOperation {
    /** `db.operation.name`: "search". */
    readonly operation?: string;
    /** `db.collection.name`: an index, a table. */
    readonly collection?: string;
    /** `db.namespace`: a cluster, a database. */
    readonly namespace?: string;
    /** `db.query.text`; only with placeholders in the place of values. */
    readonly queryText?: string;
}

/** A database that speaks HTTP. */
export interface DatabaseOptions {
    /** `db.system.name`: "elasticsearch". */
    readonly system: string;
    /** What a call does. Default: nothing is known. */
    readonly describe?: (request: Request, options: CallOptions) => DatabaseOperation;
}

/** Others could be anything that a caller made up, and each would be a value of its own (`http.request.method`, HTTP conventions). */
export const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"]);

/** The method, as far as it is known. */
export function methodOf(method: string): Attributes {
    const name = methodNameOf(method);
    return name === method ? { "http.request.method": name } : { "http.request.method": name, "http.request.method_original": method };
}

/** One of the few that there are. */
export function methodNameOf(method: string): string {
    return METHODS.has(method) ? method : "_OTHER";
}

/** What a call does in a database, of a few values each: all but the query. */
export function databaseOf({ system }: DatabaseOptions, { operation, collection, namespace }: DatabaseOperation): Attributes {
    const attributes: Attributes = { "db.system.name": system };
    if (operation !== undefined) attributes["db.operation.name"] = operation;
    if (collection !== undefined) attributes["db.collection.name"] = collection;
    if (namespace !== undefined) attributes["db.namespace"] = namespace;
    return attributes;
}

/** Nodes that are remembered; a transport has 4,096 at most, and sniffing may bring others. */
const SERVERS_MAX = 4096;
const servers = new Map<string, Attributes>();

/** Where a node is. */
export function serverOf(origin: string): Attributes {
    let found = servers.get(origin);
    if (found === undefined) {
        const { hostname, port, protocol } = new URL(origin);
        // IPv6 stands without its brackets (general attributes).
        found = Object.freeze({ "server.address": hostname.replace(/^\[|\]$/g, ""), "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) });
        if (servers.size >= SERVERS_MAX) servers.clear();
        servers.set(origin, found);
    }
    return found;
}

/** Errors without secrets; their stacks are the application's to log. */
export function shownOf(error: unknown, { redactor }: Call): { readonly name: string; readonly code: string; readonly message: string } {
    if (error instanceof TransportError) return { name: error.name, code: error.code, message: redactor.text(error.message) };
    if (error instanceof Error) return { name: redactor.text(error.name), code: redactor.text(error.name), message: redactor.text(error.message) };
    return { name: typeof error, code: "_OTHER", message: "" };
}
