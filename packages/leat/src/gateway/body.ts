// The body of a message, as text, bytes or JSON: the same in the gateway and in a transport.
import { type Request, type Response } from "../middleware/message";

/** A body that is whole. Each form is made when it is asked for, once. */
export interface Body {
    /** Its bytes, as they are on the wire: coded, where the message has a `content-encoding`. Not to be written to. */
    bytes(): Uint8Array;
    /** As UTF-8; what is none becomes U+FFFD. */
    text(): string;
    /**
     * As JSON.
     * @throws {SyntaxError} if it is none
     */
    json(): unknown;
}

class Whole implements Body {
    private asBytes: Uint8Array | undefined;
    private asText: string | undefined;

    constructor(body: string | Uint8Array) {
        if (typeof body === "string") this.asText = body;
        else this.asBytes = body;
    }

    bytes(): Uint8Array {
        return (this.asBytes ??= new TextEncoder().encode(this.asText));
    }

    text(): string {
        return (this.asText ??= new TextDecoder().decode(this.asBytes));
    }

    json(): unknown {
        return JSON.parse(this.text());
    }
}

/**
 * The body of a request or a response, with what middleware further out or in has put in its place; an empty one for a message without a body.
 *
 * In the gateway a middleware has to declare it: `bodies: "request"`, `"response"`, or both. It is undefined where it is not there: not
 * declared, longer than `plugin_limits.body` where those pass, or a stream of a transport.
 */
export function body(message: Request | Response): Body | undefined {
    const given = message.body;
    if (given === undefined || given === null) return new Whole("");
    return typeof given === "string" || given instanceof Uint8Array ? new Whole(given) : undefined;
}
