// Hedging: a call that waits long for its answer is sent to a second node too, and the first answer is taken.
import { Readable } from "node:stream";
import { type Awaitable, type Request, type Response } from "../../middleware/message";
import { type Body, isReplayable } from "../body/body";
import { TransportError } from "../error";
import { type LiveCall } from "../live";
import { Budget } from "../policy/budget";
import { isIdempotentMethod } from "../policy/retry";
import { usOf } from "../policy/time";
import { Try } from "../try";
import { type Node } from "./node";
import { type Nodes } from "./pool";
import { type HedgeSettings } from "./settings";

/** Sends one try to one node. */
export type SendTo = (request: Request, live: LiveCall, node: Node, own: Try) => Awaitable<Response>;

/** Hedges that are saved up; more at once would be the load that makes everything slow. */
const BURST = 10;

export class Hedge {
    readonly #afterMs: number;
    readonly #nodes: Nodes;
    readonly #send: SendTo;
    /** So many second tries as calls pay for: where all nodes are slow, hedging would double their load. */
    readonly #budget: Budget;

    constructor({ afterMs, ratioMax }: HedgeSettings, nodes: Nodes, send: SendTo) {
        this.#afterMs = afterMs;
        this.#nodes = nodes;
        this.#send = send;
        this.#budget = new Budget({ ratio: ratioMax, perSecond: 0, burst: BURST });
    }

    /** Whether the request may be under way twice at once. */
    isFor(request: Request, live: LiveCall): boolean {
        return (live.options.idempotent ?? isIdempotentMethod(request.method)) && isReplayable(request.body as Body | undefined);
    }

    send(request: Request, live: LiveCall, node: Node): Promise<Response> {
        this.#budget.deposit(usOf(live.clock.nowMs()));
        return new Promise((resolve, reject) => {
            const tries: Try[] = [];
            let isOver = false;
            let running = 0;
            let first: unknown;
            const won = (own: Try, response: Response): void => {
                if (isOver) {
                    // Both came in the same turn.
                    if (response.body instanceof Readable) response.body.on("error", () => undefined).destroy();
                    return;
                }
                isOver = true;
                timer.cancel();
                for (const each of tries) if (each !== own) each.abort(new TransportError("hedge.lost", "another try of the same call answered first"));
                resolve(response);
            };
            const lost = (error: unknown): void => {
                first ??= error;
                // One that still waits may answer yet.
                if (--running > 0 || isOver) return;
                isOver = true;
                timer.cancel();
                // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a TransportError, by the sender
                reject(first);
            };
            const begin = (to: Node): void => {
                const own = new Try(live);
                tries.push(own);
                running++;
                void this.#sent(request, live, to, own).then((response) => won(own, response), lost);
            };
            const timer = live.clock.after(this.#afterMs, () => {
                const other = this.#nodes.pick(node);
                if (isOver || other === node || !this.#budget.withdraw(usOf(live.clock.nowMs()))) return;
                begin(other);
            });
            begin(node);
        });
    }

    /** What fails at once fails as what fails later. */
    async #sent(request: Request, live: LiveCall, to: Node, own: Try): Promise<Response> {
        return this.#send(request, live, to, own);
    }
}
