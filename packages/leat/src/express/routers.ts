// Where routers come from.
import { type RouterConstructor } from "./types";

export const Router = require("router") as RouterConstructor;
export const Router4 = require("express-4/lib/router") as RouterConstructor;
export const Route4 = require("express-4/lib/router/route") as unknown;
/** What tools patch. */
export const Layer4 = require("express-4/lib/router/layer") as unknown;
