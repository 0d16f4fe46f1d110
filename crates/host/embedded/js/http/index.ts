// `leat:http`: what node:http is made of on this host, and what Leat's Express asks of messages and servers.
export { IncomingMessage, jsonBytes, peekField, takeBody, type BodyTaker } from "./incoming";
export { OutgoingMessage, validateHeaderName, validateHeaderValue } from "./outgoing";
export { isPlainEnd, plainFields, sendInOne, sendValue, setPowered } from "./plain";
export { ServerResponse } from "./response";
export { createServer, kMessages, Server } from "./server";
export { Socket } from "./socket";
export { METHODS, STATUS_CODES } from "./statuses";
export { strongETag, weakETag, weakTagOf } from "./etag";
export { http as engine, mixin } from "./native";
