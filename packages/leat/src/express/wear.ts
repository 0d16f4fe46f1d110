// A mounted app's requests and responses are to look like its own. Setting the prototype of an object makes every look-up
// on it slow for a while; where the mounted app has added nothing to its prototypes, only the property `app` differs.
import { kMessages } from "../http/makers";
import { type Application } from "./types";

interface Message {
    app?: Application;
}

/** Makes `message` look like one whose prototype is `prototype`. */
export function wear(message: Message, prototype: object): void {
    const { app } = prototype as Message;
    const current = Object.getPrototypeOf(message) as object;
    if (current !== prototype && !isAlike(prototype, current, message.app)) Object.setPrototypeOf(message, prototype);
    // Its own property from here on, if the prototype stayed.
    if (message.app !== app) (message as { app: Application | undefined }).app = app;
}

/** Whether the prototypes from `prototype` to `current` have nothing but their `app`, and all apps know of this. */
function isAlike(prototype: object, current: object, from: Application | undefined): boolean {
    // Apps of npm's Express, which this one may be mounted on, set prototypes back and leave own properties.
    if (from === undefined || !(kMessages in from)) return false;
    for (let at: object | null = prototype; at !== current; at = Object.getPrototypeOf(at) as object | null) {
        if (at === null) return false;
        const keys = Reflect.ownKeys(at);
        if (keys.length !== 1 || keys[0] !== "app") return false;
    }
    return true;
}
