// One call: its request's messages go to the implementation, and what that makes goes back.
import { type IncomingMessage, type ServerResponse } from "node:http";
import { type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { type ContextValues } from "@connectrpc/connect";
import { forgo } from "../http/lifecycle";
import { CallContext } from "./context";
import { Envelopes, messages, refused } from "./envelopes";
import { connect, grpc, protobuf, protocol } from "./libraries";
import { sendEnd, sendError, sendHead, sendMessage } from "./reply";
import { READ_BYTES_MAX, type Route } from "./router";

/** Longest delay of Node's timers, in milliseconds. */
const TIMER_MS_MAX = 2 ** 31 - 1;

type Message = MessageShape<DescMessage>;
type Init = MessageInitShape<DescMessage>;

/** Answers a call; never throws. */
export function answer(route: Route, request: IncomingMessage, response: ServerResponse, values: ContextValues | undefined): void {
    const timeout = timeoutOf(request, route);
    const context = new CallContext(route.spec.method, request, timeout.ms === undefined ? undefined : Date.now() + timeout.ms, values);
    const call = new ServedCall(route, request, response, context);
    if (timeout.error !== undefined) call.fail(timeout.error);
    else call.start(timeout.ms);
}

class ServedCall {
    readonly #route: Route;
    readonly #request: IncomingMessage;
    readonly #response: ServerResponse;
    readonly #context: CallContext;
    #timer: NodeJS.Timeout | undefined;
    #done = false;
    /** Why the call ended before its implementation did. */
    #failure: Error | undefined;

    constructor(route: Route, request: IncomingMessage, response: ServerResponse, context: CallContext) {
        this.#route = route;
        this.#request = request;
        this.#response = response;
        this.#context = context;
    }

    start(timeoutMs: number | undefined): void {
        this.#response.on("close", () => {
            if (!this.#done) this.#leave(new (connect().ConnectError)("the client is gone", connect().Code.Canceled));
        });
        if (timeoutMs !== undefined) {
            this.#timer = setTimeout(() => {
                this.fail(new (connect().ConnectError)("the operation timed out", connect().Code.DeadlineExceeded));
            }, Math.min(timeoutMs, TIMER_MS_MAX));
        }
        if (this.#route.spec.kind === "unary" && (this.#route.options.interceptors ?? []).length === 0) this.#unary();
        else void this.#stream().then(() => { this.#finish(); }, (error: unknown) => { this.fail(error); });
    }

    /** Ends the call with an error, if it has not ended. */
    fail(reason: unknown): void {
        if (this.#done) return;
        this.#failure = reason instanceof Error ? reason : refused("the call failed", "Internal");
        this.#leave(reason);
        // What a client still sends to a call that has ended is not read by anybody, and its end waits for none of it.
        forgo(this.#request);
        sendError(this.#response, this.#context, reason);
    }

    /** Without generators and, for an implementation that answers at once, without a promise. */
    #unary(): void {
        const envelopes = new Envelopes(this.#bytesMax);
        this.#request.on("data", (piece: Buffer) => { envelopes.push(piece); });
        this.#request.on("error", (error) => { this.fail(error); });
        this.#request.on("end", () => {
            if (this.#done) return;
            try {
                const message = envelopes.next();
                if (message === undefined) throw envelopes.isBroken ? refused("the request ended inside of a message", "InvalidArgument") : refused("a unary call without a message", "Unimplemented");
                if (envelopes.next() !== undefined || envelopes.isBroken) throw refused("a unary call with more than one message", "Unimplemented");
                const spec = this.#route.spec;
                if (spec.kind !== "unary") return;
                const made = spec.impl(this.#decode(message), this.#context);
                // Of any library: a query that one may wait for is one as well.
                if (isThenable(made)) Promise.resolve(made).then((init) => { this.#answer(init); }, (error: unknown) => { this.fail(error); });
                else this.#answer(made);
            } catch (error) {
                this.fail(error);
            }
        });
    }

    #answer(init: Init): void {
        if (this.#done) return;
        try {
            const message = this.#encode(init);
            sendHead(this.#response, this.#context);
            void sendMessage(this.#response, message);
        } catch (error) {
            this.fail(error);
            return;
        }
        this.#finish();
    }

    async #stream(): Promise<void> {
        const { spec, options } = this.#route;
        const replies = protocol().transformInvokeImplementation(spec, this.#context.plain(), options.interceptors ?? [])(this.#decoded());
        for await (const reply of replies) {
            if (this.#done) return;
            sendHead(this.#response, this.#context);
            await sendMessage(this.#response, this.#encode(reply));
        }
    }

    async* #decoded(): AsyncGenerator<Message> {
        for await (const message of messages(this.#request, this.#bytesMax)) yield this.#decode(message);
        // Messages that were cut off must not look like all that the client had to say.
        if (this.#failure !== undefined) throw this.#failure;
    }

    #decode(bytes: Uint8Array): Message {
        const { ConnectError, Code } = connect();
        try {
            return protobuf().fromBinary(this.#route.spec.method.input, bytes, this.#route.options.binaryOptions);
        } catch (error) {
            throw new ConnectError(`the message can't be read: ${(error as Error).message}`, Code.InvalidArgument, undefined, undefined, error);
        }
    }

    #encode(init: Init): Uint8Array {
        const { output } = this.#route.spec.method;
        const { create, isMessage, toBinary } = protobuf();
        const bytes = toBinary(output, isMessage(init, output) ? init : create(output, init), this.#route.options.binaryOptions);
        const most = this.#route.options.writeMaxBytes;
        if (most !== undefined && bytes.length > most) throw refused(`message of ${String(bytes.length)} bytes, more than writeMaxBytes (${String(most)})`, "ResourceExhausted");
        return bytes;
    }

    #finish(): void {
        if (this.#done) return;
        this.#leave(undefined);
        forgo(this.#request);
        sendEnd(this.#response, this.#context);
    }

    #leave(reason: unknown): void {
        this.#done = true;
        clearTimeout(this.#timer);
        this.#context.abort(reason);
    }

    get #bytesMax(): number {
        return this.#route.options.readMaxBytes ?? READ_BYTES_MAX;
    }
}

function isThenable<T>(made: T | PromiseLike<T>): made is PromiseLike<T> {
    return typeof (made as { then?: unknown } | null | undefined)?.then === "function";
}

function timeoutOf(request: IncomingMessage, { options }: Route): { ms?: number | undefined; error?: unknown } {
    const given = request.headers["grpc-timeout"];
    if (typeof given !== "string") return {};
    const { timeoutMs, error } = grpc().parseTimeout(given, options.maxTimeoutMs ?? Number.MAX_SAFE_INTEGER);
    return { ms: timeoutMs, error };
}
