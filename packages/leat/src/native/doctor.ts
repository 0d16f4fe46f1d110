import type { DoctorOutcome } from "./addon";
import { addon } from "./load";

/** What `leat doctor` says of the app in `folder`: the addon has the code and the table that the binary has. */
export function doctor(folder: string, json: boolean): DoctorOutcome {
    return addon().doctor(folder, json);
}
