// What a request is asked with.
import type { Agent } from "./agent";

export interface RequestOptions {
    protocol?: string | null;
    host?: string | null;
    hostname?: string | null;
    port?: number | string | null;
    defaultPort?: number | string;
    path?: string | null;
    socketPath?: string | null;
    method?: string;
    headers?: unknown;
    auth?: string | null;
    agent?: Agent | boolean | null;
    timeout?: number;
    setHost?: boolean;
    signal?: AbortSignal;
    servername?: string;
    ca?: unknown;
    rejectUnauthorized?: boolean;
    createConnection?: unknown;
    joinDuplicateHeaders?: boolean;
    [name: string]: unknown;
}

/** The ways to call `http.request`. */
export function normalised(input: unknown, given: unknown, listener: unknown): { options: RequestOptions; callback: ((res: unknown) => void) | undefined } {
    let options: RequestOptions;
    if (typeof input === "string" || input instanceof URL) {
        const { urlToHttpOptions } = require("leat:web/url") as { urlToHttpOptions(url: URL): RequestOptions };
        options = urlToHttpOptions(typeof input === "string" ? new URL(input) : input);
    } else {
        options = {};
        listener = given;
        given = input;
    }
    if (typeof given === "function") {
        listener = given;
        given = undefined;
    }
    return { options: { ...options, ...(given as RequestOptions | undefined) }, callback: typeof listener === "function" ? (listener as (res: unknown) => void) : undefined };
}
