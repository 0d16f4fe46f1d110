import { addon } from "./load";

/** Throws the `AddonError` that the first `listen` would throw, if there is no addon for this host. */
export function checkAddon(): void {
    addon();
}
