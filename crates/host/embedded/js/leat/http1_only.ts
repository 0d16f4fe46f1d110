// A connection of this host has one exchange at a time, so it speaks HTTP/1.1: who asks for HTTP/2 is told what to do instead.
import { UnsupportedOptionError } from "../../../../../packages/leat/src/http/options";

const INSTEAD = "leave it out, and put `leat gateway` in front, which speaks HTTP/2; or run the app with `node --import leat/register`";

/** Refuses an option of a server that asks for HTTP/2. */
export function refuseHttp2(option: string, part = ""): never {
    throw new UnsupportedOptionError(option, `${part}${INSTEAD}`);
}
