// `leat/middleware`: what programs and plug-ins see of it.
export { compile, middleware, MiddlewareError, patchHeaders, patchRequest, patchResponse, slot } from "./plan";
