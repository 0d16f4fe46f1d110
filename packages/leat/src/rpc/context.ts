// What an implementation is told of its call, made of it when it is asked for: most of them ask for nothing.
import { type IncomingMessage } from "node:http";
import { type DescMethod, type DescService } from "@bufbuild/protobuf";
import { type ContextValues, type HandlerContext } from "@connectrpc/connect";
import { connect } from "./libraries";

/** Which protocol the client speaks; the engine says it in a field that clients can't send. */
export const PROTOCOL_FIELD = "leat-rpc-protocol";
/** The method of the client's HTTP request: GET where Connect asks so. */
export const METHOD_FIELD = "leat-rpc-method";

const PROTOCOL_FIELDS = new Set([
    "content-type", "content-length", "te", "host", "connection", "transfer-encoding", "grpc-timeout", "grpc-encoding", "grpc-accept-encoding", PROTOCOL_FIELD, METHOD_FIELD,
]);

export class CallContext implements HandlerContext {
    readonly method: DescMethod;
    readonly #request: IncomingMessage;
    readonly #deadline: number | undefined;
    #requestHeader: Headers | undefined;
    #responseHeader: Headers | undefined;
    #responseTrailer: Headers | undefined;
    #values: ContextValues | undefined;
    #controller: AbortController | undefined;
    #aborted: { reason: unknown } | undefined;

    /** `deadline` counts as `Date.now()` does. */
    constructor(method: DescMethod, request: IncomingMessage, deadline: number | undefined, values: ContextValues | undefined) {
        this.method = method;
        this.#request = request;
        this.#deadline = deadline;
        this.#values = values;
    }

    get service(): DescService {
        return this.method.parent;
    }

    get signal(): AbortSignal {
        if (this.#controller === undefined) {
            this.#controller = new AbortController();
            if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason);
        }
        return this.#controller.signal;
    }

    /** Milliseconds that are left; `undefined` without a deadline. */
    readonly timeoutMs = (): number | undefined => (this.#deadline === undefined ? undefined : this.#deadline - Date.now());

    get requestMethod(): string {
        return this.#field(METHOD_FIELD) ?? "POST";
    }

    get protocolName(): string {
        return this.#field(PROTOCOL_FIELD) ?? "grpc";
    }

    get url(): string {
        return `http://${this.#request.headers.host ?? "localhost"}${this.#request.url ?? "/"}`;
    }

    /** The client's metadata: without the fields that are the protocol's own. */
    get requestHeader(): Headers {
        return (this.#requestHeader ??= headersOf(this.#request.rawHeaders));
    }

    get responseHeader(): Headers {
        return (this.#responseHeader ??= new Headers());
    }

    get responseTrailer(): Headers {
        return (this.#responseTrailer ??= new Headers());
    }

    get values(): ContextValues {
        return (this.#values ??= connect().createContextValues());
    }

    /** The headers, where the implementation has touched them. */
    get touchedHeader(): Headers | undefined {
        return this.#responseHeader;
    }

    /** The trailers, where the implementation has touched them. */
    get touchedTrailer(): Headers | undefined {
        return this.#responseTrailer;
    }

    /** All of it as own properties: connect's calls of streams and interceptors copy a context by them. */
    plain(): HandlerContext {
        const { method, service, signal, timeoutMs, requestMethod, requestHeader, responseHeader, responseTrailer, protocolName, values, url } = this;
        return { method, service, signal, timeoutMs, requestMethod, requestHeader, responseHeader, responseTrailer, protocolName, values, url };
    }

    abort(reason: unknown): void {
        this.#aborted ??= { reason };
        this.#controller?.abort(reason);
    }

    #field(name: string): string | undefined {
        const value = this.#request.headers[name];
        return typeof value === "string" ? value : undefined;
    }
}

function headersOf(raw: string[]): Headers {
    const headers = new Headers();
    for (let at = 0; at + 1 < raw.length; at += 2) {
        const name = (raw[at] ?? "").toLowerCase();
        if (!PROTOCOL_FIELDS.has(name)) headers.append(name, raw[at + 1] ?? "");
    }
    return headers;
}
