// The process stays alive as long as something of the lane needs it: a server that listens, or a connection.
import { holdLoop } from "../native/lane";

let holders = 0;

/** Keeps the event loop alive until `release`. */
export function hold(): void {
    if (holders++ === 0) holdLoop(true);
}

/** Undoes one `hold`. */
export function release(): void {
    if (--holders === 0) holdLoop(false);
}
