// The upstream that a plug-in chooses.
import { slot, type Slot } from "../middleware/slot";

/**
 * Where a plug-in of the gateway names the upstream that the request goes to, by its name in the configuration, in place of the
 * route's: `writes: [upstream]`, and `set: { upstream: "canary" }` in the patch. A name that there is none of fails the request
 * (`plugin.failed`). In a transport nothing reads it.
 */
export const upstream: Slot<"upstream", string> = slot("upstream").of<string>();
