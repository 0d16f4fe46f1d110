// Bodies of requests, by how often they can be sent.
import { type Readable } from "node:stream";
import { TransportError } from "../error";

/** A stream of a body's bytes. Texts are UTF-8. */
export type BodySource = AsyncIterable<Uint8Array | string>;

/** A body that is made anew for each try. */
export class FactoryBody {
    readonly kind = "factory";
    readonly #make: () => BodySource;
    /** Bytes, if they are known: then they are sent as `content-length`. */
    readonly byteLength: number | undefined;

    constructor(make: () => BodySource, byteLength?: number) {
        this.#make = make;
        this.byteLength = byteLength;
    }

    /** One try's stream. */
    open(): BodySource {
        return this.#make();
    }
}

/** A body that is gone when it was sent once. */
export class OnceBody {
    readonly kind = "once";
    readonly byteLength: number | undefined;
    #source: BodySource | undefined;

    constructor(source: BodySource | Readable, byteLength?: number) {
        this.#source = source as BodySource;
        this.byteLength = byteLength;
    }

    /** Whether it has been opened, so that there can be no other try. */
    get isUsed(): boolean {
        return this.#source === undefined;
    }

    /**
     * The stream, the first time.
     * @throws {TransportError} `request.body_used`
     */
    open(): BodySource {
        const source = this.#source;
        if (source === undefined) throw new TransportError("request.body_used", "the body was sent already and can be read once; give a function that makes it, to send it again");
        this.#source = undefined;
        return source;
    }
}

/** Bodies that can be sent again. */
export type ReplayableBody = string | Uint8Array | FactoryBody;

/** A request's body inside of a plan: buffered (a text or bytes), a factory, or once; undefined for none. */
export type Body = ReplayableBody | OnceBody;

/** Whether it can be sent as often as one likes, by its kind. */
export function isReplayable(body: Body | undefined): body is ReplayableBody | undefined {
    return !(body instanceof OnceBody);
}

/** Whether a try that begins now can send it: all but a stream that was opened already. */
export function isSendable(body: Body | undefined): boolean {
    return !(body instanceof OnceBody) || !body.isUsed;
}
