// Requests and responses as middleware see them, and the patches by which they are changed.

/** A value, or a promise of it. Nothing is waited for that is no thenable. */
export type Awaitable<T> = T | PromiseLike<T>;

/** A header's value; an array for one that stands several times. */
export type HeaderValue = string | readonly string[];

/** Headers by their names in lower case, in the order of their sending. */
export type Headers = Readonly<Partial<Record<string, HeaderValue>>>;

/** The request as it stands. Every change of it makes another object, so one that was kept stays what it was. */
export interface Request {
    readonly method: string;
    /** Path and query, as they are on the wire. */
    readonly path: string;
    readonly headers: Headers;
    /** The plan hands it on, and never looks into it. */
    readonly body?: unknown;
}

/** The response as it stands; see `Request`. */
export interface Response {
    readonly status: number;
    readonly headers: Headers;
    /** The plan hands it on, and never looks into it. */
    readonly body?: unknown;
}

/** Headers to set, and with `null` to delete. Names in lower case: others throw `header.name`. */
export type HeaderPatch = Readonly<Record<Lowercase<string>, HeaderValue | null | undefined>>;

/** What may change in a request. What is absent, or undefined, stays. */
export interface RequestChange {
    readonly method?: string;
    readonly path?: string;
    readonly headers?: HeaderPatch;
    /** `null` takes the body away. */
    readonly body?: unknown;
}

/** What may change in a response. What is absent, or undefined, stays. */
export interface ResponseChange {
    readonly status?: number;
    readonly headers?: HeaderPatch;
    /** `null` takes the body away. */
    readonly body?: unknown;
}
