// What Node says of bytes that are no request: the errors of llhttp for what the engine refused. It needs no socket, so that every
// host of Leat says the same.
import { METHODS, STATUS_CODES } from "node:http";
import { type Reason } from "../native/lane";

/** The code and the words of llhttp for what the engine refused. Where llhttp would take it, the nearest of its refusals. */
const PARSE_ERRORS: Record<string, [code: string, reason: string]> = {
    "head.bare_cr": ["HPE_LF_EXPECTED", "Missing expected LF after header value"],
    "head.bare_lf": ["HPE_CR_EXPECTED", "Missing expected CR after header value"],
    "head.control_byte": ["HPE_INVALID_HEADER_TOKEN", "Invalid header value char"],
    "head.obs_fold": ["HPE_INVALID_HEADER_TOKEN", "Unexpected whitespace after header value"],
    "head.space_before_colon": ["HPE_INVALID_HEADER_TOKEN", "Invalid header token"],
    "head.leading_space": ["HPE_UNEXPECTED_SPACE", "Unexpected space after start line"],
    "head.name_empty": ["HPE_INVALID_HEADER_TOKEN", "Invalid header token"],
    "head.name_invalid": ["HPE_INVALID_HEADER_TOKEN", "Invalid header token"],
    "head.colon_missing": ["HPE_INVALID_HEADER_TOKEN", "Invalid header token"],
    "head.obs_text": ["HPE_INVALID_HEADER_TOKEN", "Invalid header value char"],
    "head.cut_off": ["HPE_INVALID_EOF_STATE", "Invalid EOF state"],
    "line.method_invalid": ["HPE_INVALID_METHOD", "Invalid method encountered"],
    "line.spacing": ["HPE_INVALID_VERSION", "Expected CRLF after version"],
    "line.target_invalid": ["HPE_INVALID_URL", "Unexpected start char in url"],
    "line.target_fragment": ["HPE_INVALID_URL", "Unexpected char in url fragment start"],
    "line.target_form": ["HPE_INVALID_URL", "Unexpected start char in url"],
    // Not of the engine, which has one code for all that is no version.
    "line.no_protocol": ["HPE_INVALID_CONSTANT", "Expected HTTP/, RTSP/ or ICE/"],
    "line.version_invalid": ["HPE_INVALID_VERSION", "Invalid major version"],
    "line.version_unsupported": ["HPE_INVALID_VERSION", "Invalid HTTP version"],
    "line.http2_preface": ["HPE_PAUSED_H2_UPGRADE", "Pause on PRI/Upgrade"],
    "line.tls_bytes": ["HPE_INVALID_METHOD", "Invalid method encountered"],
    "body.length_invalid": ["HPE_INVALID_CONTENT_LENGTH", "Invalid character in Content-Length"],
    "body.length_repeated": ["HPE_UNEXPECTED_CONTENT_LENGTH", "Duplicate Content-Length"],
    "body.length_overflow": ["HPE_INVALID_CONTENT_LENGTH", "Content-Length overflow"],
    "body.length_conflict": ["HPE_INVALID_TRANSFER_ENCODING", "Transfer-Encoding can't be present with Content-Length"],
    "body.coding_unknown": ["HPE_INVALID_TRANSFER_ENCODING", "Request has invalid `Transfer-Encoding`"],
    "body.coding_invalid": ["HPE_INVALID_TRANSFER_ENCODING", "Invalid `Transfer-Encoding` header value"],
    "body.coding_http10": ["HPE_INVALID_TRANSFER_ENCODING", "Request has invalid `Transfer-Encoding`"],
    "body.cut_off": ["HPE_INVALID_EOF_STATE", "Invalid EOF state"],
    "chunk.size_invalid": ["HPE_INVALID_CHUNK_SIZE", "Invalid character in chunk size"],
    "chunk.size_overflow": ["HPE_INVALID_CHUNK_SIZE", "Chunk size overflow"],
    "chunk.extension_invalid": ["HPE_STRICT", "Invalid character in chunk extensions name"],
    "chunk.end_missing": ["HPE_STRICT", "Expected LF after chunk data"],
    "trailer.invalid": ["HPE_INVALID_HEADER_TOKEN", "Invalid header token"],
    "trailer.forbidden": ["HPE_INVALID_HEADER_TOKEN", "Invalid header token"],
    "limit.head_bytes": ["HPE_HEADER_OVERFLOW", "Header overflow"],
    "limit.fields": ["HPE_HEADER_OVERFLOW", "Header overflow"],
    "limit.field_bytes": ["HPE_HEADER_OVERFLOW", "Header overflow"],
    "limit.target_bytes": ["HPE_HEADER_OVERFLOW", "Header overflow"],
    "limit.trailer_bytes": ["HPE_HEADER_OVERFLOW", "Header overflow"],
    "limit.chunk_extension": ["HPE_CHUNK_EXTENSIONS_OVERFLOW", "Chunk extensions overflow"],
};

/** No method that is known is longer. */
const METHOD_BYTES_MAX = 64;

const TIMEOUTS = new Set(["time.head", "time.body", "slow.sender"]);

/** How an error reaches programs: Node's parser and sockets put these on it. */
export interface ClientError extends Error {
    code?: string;
    reason?: string;
    bytesParsed?: number;
    rawPacket?: Buffer;
}

/**
 * The error that Node would give for what the engine refused, or undefined where the connection just ended.
 * `packet` are the bytes in question, if there are any.
 */
export function clientError(reason: Reason, packet: Buffer | undefined): ClientError | undefined {
    if (TIMEOUTS.has(reason.code)) return nodeError("ERR_HTTP_REQUEST_TIMEOUT", "Request timeout");
    if (packet !== undefined && startsOtherwise(reason, packet)) return methodError(packet);
    const known = PARSE_ERRORS[namesNoProtocol(reason, packet) ? "line.no_protocol" : reason.code];
    if (known === undefined) {
        if (reason.status === 0) return undefined;
        // A refusal that is the engine's own.
        return parseError("HPE_USER", reason.text.replace(/\.$/, ""), packet);
    }
    return parseError(known[0], known[1], packet);
}

/** Made when something is wrong, since a host may load this before its node:http. */
let knownMethods: Set<string> | undefined;
const isMethod = (text: string): boolean => (knownMethods ??= new Set(METHODS)).has(text);

/** What llhttp reads as a method besides: those of RTSP, and the beginning of HTTP/2. */
const OTHER_METHODS = ["ANNOUNCE", "DESCRIBE", "FLUSH", "GET_PARAMETER", "PAUSE", "PLAY", "PRI", "RECORD", "REDIRECT", "SETUP", "SET_PARAMETER", "TEARDOWN"];

/** llhttp stops at a method that it does not know, and so never sees what else is wrong with that line. */
function startsOtherwise(reason: Reason, packet: Buffer): boolean {
    if (!reason.code.startsWith("line.") || reason.code === "line.http2_preface") return false;
    const [, method = "", behind] = /^[\r\n]*([^ \r\n]*)(.?)/s.exec(startOf(packet)) ?? [];
    return !isMethod(method) || behind !== " ";
}

/** What stands for the version does not begin as one. */
function namesNoProtocol(reason: Reason, packet: Buffer | undefined): boolean {
    return reason.code === "line.version_invalid" && packet !== undefined && !/^[\r\n]*[^ ]+ [^ ]+ (HTTP|RTSP|ICE)\//.test(packet.toString("latin1"));
}

/** The error of a method that is none: llhttp stops at the first character that no method has at its place. */
function methodError(packet: Buffer): ClientError {
    const text = startOf(packet);
    const from = text.search(/[^\r\n]|$/);
    let until = from;
    while (until < text.length && startsMethod(text.slice(from, until + 1))) until++;
    const [code, reason] = PARSE_ERRORS["line.method_invalid"] as [string, string];
    const error = parseError(code, isMethod(text.slice(from, until)) ? "Expected space after method" : reason, packet);
    error.bytesParsed = until;
    return error;
}

function startsMethod(text: string): boolean {
    return METHODS.some((method) => method.startsWith(text)) || OTHER_METHODS.some((method) => method.startsWith(text));
}

function startOf(packet: Buffer): string {
    return packet.toString("latin1", 0, METHOD_BYTES_MAX);
}

/** The error for a request that llhttp would not take though the engine does. */
export function parseError(code: string, reason: string, packet: Buffer | undefined): ClientError {
    const atEnd = code === "HPE_INVALID_EOF_STATE";
    const error: ClientError = new Error(atEnd ? "Parse Error" : `Parse Error: ${reason}`);
    error.code = code;
    error.reason = reason;
    error.bytesParsed = 0;
    if (packet !== undefined && !atEnd) error.rawPacket = packet;
    return error;
}

/**
 * Whether whatever comes behind is as wrong. The rest of a head that is too large is not told of: the engine refuses it
 * sooner than Node, which has read it by then.
 */
export function isLasting(error: ClientError | undefined): boolean {
    return error?.rawPacket !== undefined && error.code !== "HPE_HEADER_OVERFLOW";
}

/** A connection that the peer reset. */
export function resetError(): ClientError {
    return Object.assign(new Error("read ECONNRESET"), { errno: -104, code: "ECONNRESET", syscall: "read" });
}

/** An error as Node makes its own. */
export function nodeError(code: string, message: string, Kind: new (message: string) => Error = Error): ClientError {
    const error: ClientError = new Kind(message);
    error.code = code;
    // As the stack of Node's own errors begins.
    error.stack = error.stack?.replace(/^\w+/, `$& [${code}]`) ?? "";
    return error;
}

/** What is sent to a client whose bytes nobody else answers. */
export function answerTo(code: string | undefined): string {
    if (code === "HPE_HEADER_OVERFLOW") return answer(431);
    if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return answer(413);
    if (code === "ERR_HTTP_REQUEST_TIMEOUT") return answer(408);
    return answer(400);
}

function answer(status: number): string {
    return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nConnection: close\r\n\r\n`;
}
