// `leat/transport`: outgoing calls, with middleware that is compiled once.
export { Transport, type TransportResponse } from "./transport";
export { type TransportOptions } from "./options";
export { type RequestOptions } from "./request";
export { type Query } from "./query";
export { TransportError, type AttemptReport, type FailureKind, type TransportErrorCode } from "./error";
export { call, type BodyLimits, type Call, type CallOptions } from "./call";
export { reveal, Secret, secret } from "./secret";
export { FactoryBody, isReplayable, OnceBody, type Body, type BodySource, type ReplayableBody } from "./body/body";
export { type BodyGiven } from "./body/encode";
export { type Form } from "./body/decode";
export { ndjson, readNdjson, type Ndjson } from "./body/ndjson";
export { type Connection, type ConnectionRequest, type ConnectionResponse } from "./connection/connection";
export { undici, type UndiciOptions } from "./connection/undici";
export { type NodeGiven, type NodeOptions } from "./nodes/spec";
export { type NodesOptions, type Strategy } from "./nodes/settings";
export { type NodeStats } from "./nodes/node";
export { sleep, type Clock, type Random, type Timer } from "./clock";
