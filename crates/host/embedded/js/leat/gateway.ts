// `leat/gateway`: what plug-ins see of it.
export { upstream } from "../../../../../packages/leat/src/gateway/index";
