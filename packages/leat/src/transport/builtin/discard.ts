// A response that nobody reads.
import { Readable } from "node:stream";
import { type Response } from "../../middleware/message";
import { headerOf } from "./header";

/** Less is read to its end, so that its connection can be used again; for more, a new connection is cheaper. */
const READ_BYTES_MAX = 65_536;

/** Lets go of a response in whose place another one will come. Only a streamed body holds anything. */
export function discard(response: Response): void {
    const { body } = response;
    if (!(body instanceof Readable)) return;
    // What goes wrong with it concerns nobody any more.
    body.on("error", ignore);
    const length = headerOf(response.headers, "content-length");
    if (length !== undefined && Number(length) <= READ_BYTES_MAX) body.resume();
    else body.destroy();
}

function ignore(): void {
    // See above.
}
