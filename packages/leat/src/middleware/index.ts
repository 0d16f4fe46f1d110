// `leat/middleware`: one contract for middleware of what goes out and of what comes in, and the compiler of plans.
export { compile, type Plan, type PlanOptions, type RunOptions } from "./plan";
export {
    middleware,
    type BodySide,
    type Definition,
    type ErrorPatch,
    type Middleware,
    type Next,
    type NextPatch,
    type RequestPatch,
    type ResponsePatch,
} from "./middleware";
export { type Attempt, type Completed, type Context, type ContextOf, type Failed, type Responded, type Scope, type Signal } from "./context";
export { slot, type Held, type Slot, type SlotPatch } from "./slot";
export { type Awaitable, type HeaderPatch, type Headers, type HeaderValue, type Request, type RequestChange, type Response, type ResponseChange } from "./message";
export { patchHeaders, patchRequest, patchResponse } from "./patch";
export { MiddlewareError, type MiddlewareErrorCode } from "./error";
export { type Sender } from "./layer";
export { type Gauges, type Measured } from "./meter";
