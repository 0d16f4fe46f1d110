// Node's own classes as they were when this module was loaded, and the private symbols of theirs that the lane has to set.
import * as http from "node:http";

// Captured at load: `leat/register` puts Leat's classes in their place.
export const NodeServer = http.Server;
export const NodeIncomingMessage = http.IncomingMessage;
export const NodeServerResponse = http.ServerResponse;
export const NodeOutgoingMessage = http.OutgoingMessage;

/** The methods that Leat overrides, to see whether somebody replaced them on Node's prototypes since. */
export const nodeEnd = NodeOutgoingMessage.prototype.end;
export const nodeSetHeader = NodeOutgoingMessage.prototype.setHeader;
export const nodeGetHeader = NodeOutgoingMessage.prototype.getHeader;
export const nodeWriteHead = NodeServerResponse.prototype.writeHead;
export const nodeAssignSocket = NodeServerResponse.prototype.assignSocket;
export const nodeEmit = NodeServerResponse.prototype.emit;

const sampleIncoming = new NodeIncomingMessage(null as never);
const sampleOutgoing = new NodeServerResponse(sampleIncoming);
const sampleServer = new NodeServer();

/** Parsed fields of an IncomingMessage. */
export const kHeaders = symbolOf(sampleIncoming, "kHeaders");
/** How many items of `rawHeaders` count. */
export const kHeadersCount = symbolOf(sampleIncoming, "kHeadersCount");
/** Fields set on an OutgoingMessage: lower-case name to [name, value], or null. */
export const kOutHeaders = symbolOf(sampleOutgoing, "kOutHeaders");
/** Whether an OutgoingMessage owes a 'drain'. */
export const kNeedDrain = symbolOf(sampleOutgoing, "kNeedDrain");
/** The error that an OutgoingMessage was destroyed with. */
export const kErrored = symbolOf(sampleOutgoing, "errored");
/** Whether 'finish' was emitted, on the Nodes that keep it. */
export const kWritableFinished = symbolIn(sampleOutgoing, "kWritableFinished");
/** Callbacks of `end`, on the Nodes that keep them apart from 'finish'. */
export const kEndCallbacks = symbolIn(sampleOutgoing, "kEndCallbacks");
/** Names of fields that are sent once, of a server and of its responses. */
export const kUniqueHeaders = symbolOf(sampleServer, "kUniqueHeaders");
/** The message classes that a server was told to use. */
export const kIncomingMessage = symbolOf(sampleServer, "IncomingMessage");
export const kServerResponse = symbolOf(sampleServer, "ServerResponse");
/** Whether requests without a body skip their stream events, on the Nodes that know the option. */
export const kOptimizeEmptyRequests = symbolIn(sampleServer, "OptimizeEmptyRequestsOption");
/** Lets go of the socket that aborts `req.signal`, on the Nodes that have it. */
export const kDetachAbortSignal = symbolIn(NodeIncomingMessage.prototype, "kDetachAbortSignal");

/** Node's version as a number, for what differs between versions. */
export const NODE_MAJOR = Number.parseInt(process.versions.node, 10);

function symbolIn(object: object, description: string): symbol | undefined {
    return Object.getOwnPropertySymbols(object).find((symbol) => symbol.description === description);
}

function symbolOf(object: object, description: string): symbol {
    const found = symbolIn(object, description);
    if (found === undefined) {
        throw new Error(`Leat does not know this Node.js (${process.version}): ${description} is missing; use a version from 20 to 26, or node:http`);
    }
    return found;
}
