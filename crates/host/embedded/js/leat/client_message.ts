// The answer that a request got: node:http's IncomingMessage over a native exchange.
import { IncomingMessage } from "../http";
import { read } from "../web/exchange";
import type { ClientRequest } from "./client";

type Callback = (error?: Error | null) => void;

export class ClientMessage extends IncomingMessage {
    /** The exchange it is read from. */
    _source: number;
    req: ClientRequest;
    constructor(source: number, req: ClientRequest, status: number, reason: string, fields: string[], minor: number) {
        super();
        this._source = source;
        this.req = req;
        this.statusCode = status;
        this.statusMessage = reason;
        this.rawHeaders = fields;
        this.httpVersionMajor = 1;
        this.httpVersionMinor = minor;
        this.httpVersion = `1.${minor}`;
    }
    override _read(): void {
        this._consuming = true;
        read(this._source);
    }
    override _destroy(error: Error | null, callback: Callback): void {
        let told = error;
        if (!this.readableEnded || !this.complete) {
            this.aborted = true;
            this.emit("aborted");
            this.req._giveUp();
            if (told === null && !this.readableEnded) told = Object.assign(new Error("aborted"), { code: "ECONNRESET" });
        }
        if (told !== null && this.listenerCount("error") === 0) told = null;
        process.nextTick(callback, told);
    }
}
Object.defineProperty(ClientMessage.prototype, "socket", {
    configurable: true,
    enumerable: true,
    get(this: ClientMessage): object | null {
        return this.req.socket;
    },
    set(): void {
        // The request's; it is made when somebody looks.
    },
});
Object.defineProperty(ClientMessage, "name", { value: "IncomingMessage" });
