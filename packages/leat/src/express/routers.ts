// The routers of both dialects, under the names by which the rest of an app and the module mapping know them. A router
// types its requests by what it sets on them, an app by what it has.
import * as own from "./router";
import { type RouterConstructor } from "./types";

export const Router = own.Router5 as unknown as RouterConstructor;
export const Router4 = own.Router4 as unknown as RouterConstructor;
export { Layer4, Layer5 as Layer, Route4, Route5 as Route } from "./router";
