// `leat/gateway`: what plug-ins of the gateway have beyond `leat/middleware`. Their files run in a transport too.
export { upstream } from "./upstream";
export { body, type Body } from "./body";
export { counter, type Counter, type CounterOptions } from "./counter";
export { type Plugin, type PluginRequest, type PluginResponse } from "./plugin";
