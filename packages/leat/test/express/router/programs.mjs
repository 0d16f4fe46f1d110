// All programs of the differential test.
import { dispatch } from "./programs/dispatch.mjs";
import { edits } from "./programs/edits.mjs";
import { failures } from "./programs/failures.mjs";
import { methods } from "./programs/methods.mjs";
import { mounts } from "./programs/mounts.mjs";
import { params } from "./programs/params.mjs";
import { paths4 } from "./programs/paths4.mjs";
import { paths5 } from "./programs/paths5.mjs";
import { registration } from "./programs/registration.mjs";

export const programs = [...dispatch, ...mounts, ...methods, ...params, ...paths4, ...paths5, ...failures, ...registration, ...edits];
