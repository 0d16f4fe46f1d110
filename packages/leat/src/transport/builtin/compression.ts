// Compresses bodies both ways.
import { Readable } from "node:stream";
import { isThenable } from "../../middleware/apply";
import { type Awaitable, type Headers, type Request } from "../../middleware/message";
import { middleware, type Middleware, type RequestPatch, type ResponsePatch } from "../../middleware/middleware";
import { slot } from "../../middleware/slot";
import { type Body } from "../body/body";
import { call, type Call } from "../call";
import { wrongOption } from "../error";
import { countOf, flagOf, objectOf } from "../given";
import { type Coder, coderOf, type Coding, CODINGS } from "./coding/coding";
import { codersOf, decoded, decodedStream } from "./coding/decode";
import { encoded, encodedStream } from "./coding/encode";
import { Gain } from "./coding/gain";
import { listOf } from "./header";
import { callOf } from "./own_call";

/** Which bodies are compressed, and how. */
export interface CompressionOptions {
    /** Codings that responses may have, most wanted first; `false` asks for none. Default: all that this Node.js has. */
    readonly accept?: readonly Coding[] | false;
    /** The coding of requests' bodies; `false` for none. The peer must be known to take it. Streams whose length is not known are compressed too. Default: false. */
    readonly request?: Coding | false;
    /** Requests' bodies of fewer bytes are sent as they are. Default: 1,024. */
    readonly requestBytesMin?: number;
    /** Whether to stop compressing what a route sends when that saves less than a tenth, and to try again later. Default: true. */
    readonly learn?: boolean;
}

/** Fewer bytes fit into one packet either way. */
const REQUEST_BYTES_MIN = 1024;

const ENCODED = { "content-length": null, "content-encoding": null } as const;

/** The body of a call before and after, so that the next try does not compress it again. */
const encodedBody = slot("compression_encoded").of<{ readonly from: unknown; readonly to: Body }>();
/** Whether this middleware asked for codings, so that it is for it to decode them. */
const asked = slot("compression_asked").of<boolean>();

/**
 * Asks for compressed responses and decodes them within the call's limits, and compresses requests' bodies if it is told to. A
 * request that has an `accept-encoding` or `content-encoding` of its own is left as it is, and so is the response to it.
 *
 * @throws {TransportError} `options.invalid`
 */
export function compression(options: CompressionOptions = {}): Middleware<"attempt"> {
    const given = objectOf("compression", options, ["accept", "request", "requestBytesMin", "learn"]);
    const compressing = new Compressing(
        acceptOf(given["accept"]),
        requestOf(given["request"]),
        countOf("compression.requestBytesMin", given["requestBytesMin"], REQUEST_BYTES_MIN, 0),
        flagOf("compression.learn", given["learn"], true) ? new Gain() : undefined,
    );
    return middleware({
        name: "compression",
        scope: "attempt",
        reads: [call],
        writes: [encodedBody, asked],
        onRequest: (context) => compressing.request(callOf(context), context.request, context.get(encodedBody)),
        onResponse: (context) => (context.get(asked) === true ? response(callOf(context), context.request, context.response) : undefined),
    });
}

type Slots = typeof encodedBody | typeof asked;
type Patch = RequestPatch<Slots>;

class Compressing {
    private readonly accept: string | undefined;
    /** What is set where no body is encoded: one object for all tries. */
    private readonly asking: Patch | undefined;
    private readonly coding: Coding | undefined;
    private readonly coder: Coder | undefined;
    private readonly bytesMin: number;
    private readonly gain: Gain | undefined;

    constructor(accept: string | undefined, coding: Coding | undefined, bytesMin: number, gain: Gain | undefined) {
        this.accept = accept;
        this.asking = accept === undefined ? undefined : Object.freeze({ headers: Object.freeze({ "accept-encoding": accept }), set: Object.freeze({ compression_asked: true }) });
        this.coding = coding;
        this.coder = coding === undefined ? undefined : coderOf(coding);
        this.bytesMin = bytesMin;
        this.gain = gain;
    }

    request(own: Call, request: Request, before: { readonly from: unknown; readonly to: Body } | undefined): Awaitable<Patch | undefined> {
        const accept = this.accept !== undefined && !Object.hasOwn(request.headers, "accept-encoding") ? this.accept : undefined;
        const { coder, gain } = this;
        const body = request.body as Body | undefined;
        if (coder === undefined || body === undefined || Object.hasOwn(request.headers, "content-encoding")) return this.patch(accept, undefined, undefined);
        if (before?.from === body) return this.patch(accept, body, before.to);
        if (typeof body !== "string" && !(body instanceof Uint8Array)) {
            const isSmall = body.byteLength !== undefined && body.byteLength < this.bytesMin;
            // Made anew for each try: whether there can be another one is the original's to say.
            return this.patch(accept, undefined, isSmall ? undefined : encodedStream(body, coder));
        }
        const byteLength = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
        const route = own.options.route ?? request.method;
        if (byteLength < this.bytesMin || gain?.pays(route) === false) return this.patch(accept, undefined, undefined);
        const made = encoded(body, byteLength, coder);
        if (isThenable(made)) return made.then((bytes) => this.kept(accept, route, body, byteLength, bytes));
        return this.kept(accept, route, body, byteLength, made);
    }

    private kept(accept: string | undefined, route: string, body: string | Uint8Array, byteLength: number, bytes: Buffer): Patch | undefined {
        this.gain?.record(route, byteLength, bytes.byteLength);
        // What grew is sent as it was.
        return this.patch(accept, body, bytes.byteLength < byteLength ? bytes : undefined);
    }

    private patch(accept: string | undefined, from: Body | undefined, to: Body | undefined): Patch | undefined {
        if (to === undefined || this.coding === undefined) return accept === undefined ? undefined : this.asking;
        const headers = { "content-encoding": this.coding, "content-length": null, "accept-encoding": accept };
        return { body: to, headers, set: { compression_encoded: { from, to }, compression_asked: accept !== undefined } };
    }
}

function response(own: Call, request: Request, { status, headers, body }: { readonly status: number; readonly headers: Headers; readonly body?: unknown }): Awaitable<ResponsePatch<Slots> | undefined> {
    const encoding = listOf(headers, "content-encoding");
    // These have the fields of a body, and no body (RFC 9110 sections 9.3.2, 15.4.5).
    if (encoding === undefined || request.method === "HEAD" || status === 204 || status === 304) return undefined;
    const coders = codersOf(encoding);
    if (coders.length === 0) return undefined;
    if (body instanceof Readable) return { body: decodedStream(body, coders, own.limits), headers: ENCODED };
    if (!(body instanceof Uint8Array) || body.byteLength === 0) return undefined;
    const bytes = decoded(body, coders, own.limits, own.signal);
    return isThenable(bytes) ? bytes.then((whole) => ({ body: whole, headers: ENCODED })) : { body: bytes, headers: ENCODED };
}

function acceptOf(given: unknown): string | undefined {
    if (given === false) return undefined;
    if (given === undefined) return CODINGS.filter((coding) => coderOf(coding) !== undefined).join(", ");
    if (!Array.isArray(given) || given.length === 0) throw wrongOption("compression.accept", given, `codings, as ["br", "gzip"], or false`);
    return given.map((coding, at) => codingOf(`compression.accept[${at}]`, coding)).join(", ");
}

function requestOf(given: unknown): Coding | undefined {
    return given === undefined || given === false ? undefined : codingOf("compression.request", given);
}

function codingOf(name: string, given: unknown): Coding {
    const coding = CODINGS.find((each) => each === given);
    if (coding === undefined) throw wrongOption(name, given, `one of ${CODINGS.join(", ")}`);
    if (coderOf(coding) === undefined) throw wrongOption(name, given, `what this Node.js has, which has no ${coding}; that comes with 22.15 and 23.8`);
    return coding;
}
