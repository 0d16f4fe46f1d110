// `leat/gateway`: what plug-ins see of it.
export { body, upstream } from "../../../../../packages/leat/src/gateway/index";
export { counter } from "./plugin_counter";
