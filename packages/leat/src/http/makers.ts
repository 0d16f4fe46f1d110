// Requests and responses are built with the prototypes that the program wants them to have. Express and its like set
// the prototype of every request to an object of theirs; on Node 20 that costs 3.6 µs a message and slows whatever
// looks at it. So when a handler was seen to do it, the next messages are built with that object as their prototype,
// and the framework's own assignment changes nothing. A listener may also tell from the start (`kMessages`).
import { type EventEmitter } from "node:events";
import { type IncomingMessage as NodeRequest, type ServerResponse as NodeResponse } from "node:http";
import { type Core } from "./core";
import { IncomingMessage, kRepeated } from "./incoming";
import { kIncomingMessage, kServerResponse, NodeIncomingMessage, NodeServerResponse } from "./node_symbols";
import { ServerResponse } from "./response";
import { type LeatSocket } from "./socket";

type NewRequest = (socket: LeatSocket) => NodeRequest;
type NewResponse = (req: NodeRequest, options: Core["responseOptions"]) => NodeResponse;
type Constructor = new (...args: unknown[]) => object;

/** A listener's property: what has the prototypes of its requests and responses, as an app of leat/express does. */
export const kMessages = Symbol.for("leat.messages");

interface Told {
    request: object;
    response: object;
}

/** Node's constructor takes options that its types don't have. */
const OwnResponse = ServerResponse as unknown as new (req: NodeRequest, options: Core["responseOptions"]) => NodeResponse;

/** A program that swaps to and fro is left alone after so many. */
const LEARNED_MAX = 8;

/** Builds the messages of one server. */
export class Makers {
    request: NewRequest;
    response: NewResponse;
    /** Makes a request that wants another protocol, and so is none of the framework's. */
    readonly upgraded: NewRequest;
    requestPrototype: object;
    responsePrototype: object;
    /** Whether requests are of the program's own class, which gets everything decoded. */
    readonly ownRequest: boolean;
    /** Whether responses are of the program's own class. */
    readonly ownResponse: boolean;
    private learned = 0;

    constructor(server: object) {
        const classes = server as Record<symbol, unknown>;
        const request = classes[kIncomingMessage];
        const response = classes[kServerResponse];
        this.ownRequest = request !== undefined && request !== NodeIncomingMessage && request !== IncomingMessage;
        this.ownResponse = response !== undefined && response !== NodeServerResponse && response !== ServerResponse;
        const Request = (this.ownRequest ? request : IncomingMessage) as Constructor;
        const Response = (this.ownResponse ? response : ServerResponse) as Constructor;
        this.requestPrototype = Request.prototype as object;
        this.responsePrototype = Response.prototype as object;
        this.request = this.ownRequest ? (socket) => new Request(socket) as NodeRequest : (socket) => new IncomingMessage(socket);
        this.response = this.ownResponse
            ? (req, options) => new Response(req, options) as NodeResponse
            : (req, options) => new OwnResponse(req, options);
        this.upgraded = this.request;
        // Another listener might set what the app's prototypes do not let it set.
        const [first, ...others] = (server as EventEmitter).listeners("request") as { [kMessages]?: Told }[];
        const told = first?.[kMessages];
        if (told !== undefined && others.length === 0) this.take(told.request, told.response);
    }

    /** Takes over the prototypes that a handler gave its messages. */
    learn(req: object, res: object): void {
        const request = Object.getPrototypeOf(req) as object;
        const response = Object.getPrototypeOf(res) as object;
        if (request === this.requestPrototype && response === this.responsePrototype) return;
        if (this.learned === LEARNED_MAX) return;
        this.learned++;
        this.take(request, response);
    }

    private take(request: object, response: object): void {
        if (this.ownRequest || this.ownResponse) return;
        if (request !== this.requestPrototype && inherits(request, NodeIncomingMessage.prototype, IncomingMessage.prototype)) {
            this.requestPrototype = request;
            this.request = requestMaker(request);
        }
        if (response !== this.responsePrototype && inherits(response, NodeServerResponse.prototype, ServerResponse.prototype)) {
            this.responsePrototype = response;
            this.response = responseMaker(response);
        }
    }
}

/** Makes `prototype`, which inherits from Node's class, inherit from ours. False if it does not, or may not. */
function inherits(prototype: object, node: object, ours: object): boolean {
    for (let at: object | null = prototype; at !== null; ) {
        if (at === ours) return true;
        if (at === node) return false;
        const parent = Object.getPrototypeOf(at) as object | null;
        if (parent === node) return Reflect.setPrototypeOf(at, ours);
        at = parent;
    }
    return false;
}

/** Fields for V8 to reserve; more of them added one by one would turn the object into a dictionary. */
type Slots = { [Name in `s${Digit}` | `s${1 | 2 | 3 | 4}${Digit}`]: number };
type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

function requestMaker(prototype: object): NewRequest {
    const construct = NodeIncomingMessage as unknown as { call(self: unknown, socket: unknown): void };
    // Named as in Node, since stack traces show it.
    function IncomingMessage(this: Slots, socket: unknown): void {
        if (socket === undefined) {
            // Never run. V8 counts the assignments when it lays the object out.
            this.s0 = this.s1 = this.s2 = this.s3 = this.s4 = this.s5 = this.s6 = this.s7 = this.s8 = this.s9 = 0;
            this.s10 = this.s11 = this.s12 = this.s13 = this.s14 = this.s15 = this.s16 = this.s17 = this.s18 = this.s19 = 0;
            this.s20 = this.s21 = this.s22 = this.s23 = this.s24 = this.s25 = this.s26 = this.s27 = this.s28 = this.s29 = 0;
            this.s30 = this.s31 = this.s32 = this.s33 = this.s34 = this.s35 = this.s36 = this.s37 = this.s38 = this.s39 = 0;
        }
        construct.call(this, socket);
        // As the constructor of our own class.
        (this as unknown as Record<symbol, unknown>)[kRepeated] = null;
    }
    IncomingMessage.prototype = prototype;
    const Maker = IncomingMessage as unknown as new (socket: unknown) => NodeRequest;
    return (socket) => new Maker(socket);
}

function responseMaker(prototype: object): NewResponse {
    const construct = NodeServerResponse as unknown as { call(self: unknown, req: unknown, options: unknown): void };
    function ServerResponse(this: Slots, req: unknown, options: unknown): void {
        if (req === undefined) {
            // Never run, as above.
            this.s0 = this.s1 = this.s2 = this.s3 = this.s4 = this.s5 = this.s6 = this.s7 = this.s8 = this.s9 = 0;
            this.s10 = this.s11 = this.s12 = this.s13 = this.s14 = this.s15 = this.s16 = this.s17 = this.s18 = this.s19 = 0;
            this.s20 = this.s21 = this.s22 = this.s23 = this.s24 = this.s25 = this.s26 = this.s27 = this.s28 = this.s29 = 0;
            this.s30 = this.s31 = this.s32 = this.s33 = this.s34 = this.s35 = this.s36 = this.s37 = this.s38 = this.s39 = 0;
            this.s40 = this.s41 = this.s42 = this.s43 = this.s44 = this.s45 = this.s46 = this.s47 = this.s48 = this.s49 = 0;
        }
        construct.call(this, req, options);
    }
    ServerResponse.prototype = prototype;
    const Maker = ServerResponse as unknown as new (req: unknown, options: unknown) => NodeResponse;
    return (req, options) => new Maker(req, options);
}
