// `leat/transport/kit`: what tests of the transport and of middleware need, without a network and without waiting.
export { conformance, type ConformanceCase, type ConformanceOptions } from "./conformance";
export { VirtualClock, type VirtualClockOptions } from "./virtual_clock";
export {
    ScriptedConnection,
    type ScriptedConnectionOptions,
    type ScriptedExchange,
    type ScriptedFailure,
    type ScriptedReply,
    type ScriptedStep,
} from "./scripted_connection";
