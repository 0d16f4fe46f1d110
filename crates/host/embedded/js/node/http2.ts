// node:http2 for programs that load it only to know its constants. What would need more says so.
import { STATUS_CODES } from "../http";

function missing(what: string): never {
    throw Object.assign(new Error(`leat run has no ${what}: HTTP/2 is spoken by leat gateway in front of this program; or run it by node --import leat/register`), {
        code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
    });
}

const ERRORS = [
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM",
    "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
];
const FIELDS =
    ":status :method :authority :scheme :path :protocol accept accept-charset accept-encoding accept-language accept-ranges age allow authorization cache-control connection content-disposition content-encoding content-language content-length content-location content-range content-type cookie date etag expect expires forwarded from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified link location max-forwards origin prefer proxy-authenticate proxy-authorization range referer retry-after server set-cookie te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate";
const METHODS = ["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"];

const upper = (text: string): string => text.replace(/^:/, "").replace(/\W+/g, "_").toUpperCase();

export const constants: Record<string, string | number> = Object.create(null) as Record<string, string | number>;
ERRORS.forEach((name, code) => void (constants[`NGHTTP2_${name}`] = code));
for (const name of FIELDS.split(" ")) constants[`HTTP2_HEADER_${upper(name)}`] = name;
for (const name of METHODS) constants[`HTTP2_METHOD_${name}`] = name;
for (const [code, text] of Object.entries(STATUS_CODES)) constants[`HTTP_STATUS_${upper(text as string).replaceAll("'", "")}`] = Number(code);

export const sensitiveHeaders = Symbol("nodejs.http2.sensitiveHeaders");
export const connect = (): never => missing("http2.connect");
export const createServer = (): never => missing("http2.createServer");
export const createSecureServer = (): never => missing("http2.createSecureServer");
export const getDefaultSettings = (): never => missing("http2.getDefaultSettings");

export class Http2ServerRequest {
    constructor() {
        missing("http2.Http2ServerRequest");
    }
}
export class Http2ServerResponse {
    constructor() {
        missing("http2.Http2ServerResponse");
    }
}
