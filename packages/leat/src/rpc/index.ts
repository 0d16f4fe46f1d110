// `leat/rpc`: services in JavaScript, in every RPC protocol on one port.
export { createServer, type RpcOptions } from "./server";
export { type CorsOptions } from "./edges";
export { type CallOptions } from "./router";
export { loadSchema, serviceOf, type SchemaOptions } from "./schema";
