// `leat/gateway`: what plug-ins of the gateway have beyond `leat/middleware`. Their files run in a transport too.
export { upstream } from "./upstream";
export { type Plugin, type PluginRequest, type PluginResponse } from "./plugin";
