// The messages of Node's error codes, as functions of what their constructors are given.

const CHARACTERS_SHOWN_MAX = 28;
const TYPES = new Set(["string", "function", "number", "object", "Function", "Object", "boolean", "bigint", "symbol"]);
const CLASS = /^([A-Z][a-z0-9]*)+$/;

type Inspect = (value: unknown, options?: object) => string;
const inspect: Inspect = (value, options) => (require("node:util") as { inspect: Inspect }).inspect(value, options);

/** As `%s` of `util.format` has it. */
function shown(value: unknown): string {
    return typeof value === "object" && value !== null ? (require("node:util") as { format(...values: unknown[]): string }).format("%s", value) : String(value);
}

/** What Node says behind `Received`: the class of an object, the type and the value of a primitive. */
export function received(value: unknown): string {
    if (value === null || value === undefined) return String(value);
    switch (typeof value) {
        case "bigint":
            return `type bigint (${value}n)`;
        case "number":
            return `type number (${Object.is(value, -0) ? "-0" : value})`;
        case "boolean":
        case "symbol":
            return `type ${typeof value} (${String(value)})`;
        case "function":
            return `function ${value.name}`;
        case "object": {
            const made = value.constructor as { name?: unknown } | undefined;
            return made && "name" in Object(made) ? `an instance of ${String(made.name)}` : inspect(value, { depth: -1 });
        }
        default: {
            let text = value as string;
            if (text.length > CHARACTERS_SHOWN_MAX) text = `${text.slice(0, CHARACTERS_SHOWN_MAX - 3)}...`;
            return `type string (${text.includes("'") ? JSON.stringify(text) : `'${text}'`})`;
        }
    }
}

/** `a`, `a or b`, `a, b, or c`. */
function alternatives(list: readonly string[]): string {
    if (list.length < 3) return list.join(" or ");
    return `${list.slice(0, -1).join(", ")}, or ${list[list.length - 1]}`;
}

/** `The "x" argument`, or `The "x.y" property`, or the words themselves if they end with ` argument`. */
function subject(name: string): string {
    return name.endsWith(" argument") ? name : `"${name}" ${name.includes(".") ? "property" : "argument"}`;
}

function wrongType(name: string, expected: string | readonly string[], actual: unknown): string {
    const types: string[] = [];
    const classes: string[] = [];
    const others: string[] = [];
    for (const one of typeof expected === "string" ? [expected] : expected) {
        if (TYPES.has(one)) types.push(one.toLowerCase());
        else if (CLASS.test(one)) classes.push(one);
        else others.push(one);
    }
    // Beside classes, an object is "an instance of Object".
    const object = classes.length > 0 ? types.indexOf("object") : -1;
    if (object >= 0) {
        types.splice(object, 1);
        classes.push("Object");
    }
    const parts: string[] = [];
    if (types.length > 0) parts.push(`${types.length > 1 ? "one of type" : "of type"} ${alternatives(types)}`);
    if (classes.length > 0) parts.push(`an instance of ${alternatives(classes)}`);
    if (others.length > 1) parts.push(`one of ${alternatives(others)}`);
    else if (others[0] !== undefined) parts.push(others[0].toLowerCase() === others[0] ? others[0] : `an ${others[0]}`);
    return `The ${subject(name)} must be ${parts.join(" or ")}. Received ${received(actual)}`;
}

function wrongValue(name: string, value: unknown, reason = "is invalid"): string {
    let text = inspect(value);
    if (text.length > 128) text = `${text.slice(0, 128)}...`;
    return `The ${name.includes(".") ? "property" : "argument"} '${name}' ${reason}. Received ${text}`;
}

/** `1_234_567` for numbers and bigints that would be hard to read. */
function grouped(digits: string): string {
    const sign = digits.startsWith("-") ? "-" : "";
    return sign + digits.slice(sign.length).replace(/(?<=.)(?=(.{3})+$)/g, "_");
}

function outOfRange(name: string, range: string, value: unknown, replacesMessage = false): string {
    let shown: string;
    if (Number.isInteger(value) && Math.abs(value as number) > 2 ** 32) shown = grouped(String(value));
    else if (typeof value === "bigint") shown = `${value > 2n ** 32n || value < -(2n ** 32n) ? grouped(String(value)) : String(value)}n`;
    else shown = typeof value === "number" ? (Object.is(value, -0) ? "-0" : String(value)) : inspect(value);
    return `${replacesMessage ? name : `The value of "${name}" is out of range.`} It must be ${range}. Received ${shown}`;
}

function missing(...names: (string | string[])[]): string {
    const shown = names.map((name) => (Array.isArray(name) ? name.map((one) => `"${one}"`).join(" or ") : `"${name}"`));
    const last = shown.length - 1;
    if (last === 0) return `The ${shown[0]} argument must be specified`;
    if (last === 1) return `The ${shown[0]} and ${shown[1]} arguments must be specified`;
    return `The ${shown.slice(0, last).join(", ")}, and ${shown[last]} arguments must be specified`;
}

function wrongReturn(expected: string, name: string, value: unknown): string {
    const made = value as { constructor?: { name?: string } } | null | undefined;
    const what = made && made.constructor && made.constructor.name ? `instance of ${made.constructor.name}` : `type ${typeof value}`;
    return `Expected ${expected} to be returned from the "${name}" function but got ${what}.`;
}

type Tell = string | ((...args: never[]) => string);

/** Class (T: TypeError, R: RangeError, S: SyntaxError, U: URIError, E: Error) and message of every code. */
const table = {
    ERR_AMBIGUOUS_ARGUMENT: ["T", (name: string, reason: string) => `The "${name}" argument is ambiguous. ${reason}`],
    ERR_ARG_NOT_ITERABLE: ["T", (name: string) => `${name} must be iterable`],
    ERR_ASYNC_CALLBACK: ["T", (name: string) => `${name} must be a function`],
    ERR_ASYNC_TYPE: ["T", (name: string) => `Invalid name for async "type": ${name}`],
    ERR_BUFFER_OUT_OF_BOUNDS: ["R", (name?: string) => (name ? `"${name}" is outside of buffer bounds` : "Attempt to access memory outside buffer bounds")],
    ERR_BUFFER_TOO_LARGE: ["R", (bytes: number) => `Cannot create a Buffer larger than ${bytes} bytes`],
    ERR_CHILD_PROCESS_STDIO_MAXBUFFER: ["R", (name: string) => `${name} maxBuffer length exceeded`],
    ERR_CONSTRUCT_CALL_REQUIRED: ["T", (name: string) => `Class constructor ${name} cannot be invoked without \`new\``],
    ERR_CRYPTO_HASH_FINALIZED: ["E", "Digest already called"],
    ERR_CRYPTO_HASH_UPDATE_FAILED: ["E", "Hash update failed"],
    ERR_CRYPTO_INVALID_DIGEST: ["T", (name: string) => `Invalid digest: ${name}`],
    ERR_CRYPTO_INVALID_KEYLEN: ["R", "Invalid key length"],
    ERR_CRYPTO_INVALID_STATE: ["E", (what: string) => `Invalid state for operation ${what}`],
    ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH: ["R", "Input buffers must have the same byte length"],
    ERR_CRYPTO_UNKNOWN_CIPHER: ["E", "Unknown cipher"],
    ERR_DIR_CLOSED: ["E", "Directory handle was closed"],
    ERR_DIR_CONCURRENT_OPERATION: ["E", "Cannot do synchronous work on directory handle with concurrent asynchronous operations"],
    ERR_ENCODING_INVALID_ENCODED_DATA: ["T", (encoding: string) => `The encoded data was not valid for encoding ${encoding}`],
    ERR_ENCODING_NOT_SUPPORTED: ["R", (encoding: string) => `The "${encoding}" encoding is not supported`],
    ERR_EVENT_RECURSION: ["E", (type: string) => `The event "${type}" is already being dispatched`],
    ERR_FALSY_VALUE_REJECTION: ["E", "Promise was rejected with falsy value"],
    ERR_FEATURE_UNAVAILABLE_ON_PLATFORM: ["T", (what: string) => `The feature ${what} is unavailable on the current platform, which is being used to run Node.js`],
    ERR_FS_FILE_TOO_LARGE: ["R", (size: number) => `File size (${size}) is greater than 2 GiB`],
    ERR_FS_INVALID_SYMLINK_TYPE: ["E", (type: string) => `Symlink type must be one of "dir", "file", or "junction". Received "${type}"`],
    ERR_HTTP_BODY_NOT_ALLOWED: ["E", "Adding content for this request method or response status is not allowed."],
    ERR_HTTP_CONTENT_LENGTH_MISMATCH: ["E", (body: number, declared: number) => `Response body's content-length of ${body} byte(s) does not match the content-length of ${declared} byte(s) set in header`],
    ERR_HTTP_HEADERS_SENT: ["E", (what: string) => `Cannot ${what} headers after they are sent to the client`],
    ERR_HTTP_INVALID_HEADER_VALUE: ["T", (value: unknown, name: string) => `Invalid value "${shown(value)}" for header "${name}"`],
    ERR_HTTP_INVALID_STATUS_CODE: ["R", (status: unknown) => `Invalid status code: ${shown(status)}`],
    ERR_HTTP_REQUEST_TIMEOUT: ["E", "Request timeout"],
    ERR_TLS_HANDSHAKE_TIMEOUT: ["E", "TLS handshake timeout"],
    ERR_HTTP_SOCKET_ENCODING: ["E", "Changing the socket encoding is not allowed per RFC7230 Section 3."],
    ERR_HTTP_SOCKET_ASSIGNED: ["E", "ServerResponse has an already assigned socket"],
    ERR_HTTP_TRAILER_INVALID: ["E", "Trailers are invalid with this transfer encoding"],
    ERR_ILLEGAL_CONSTRUCTOR: ["T", "Illegal constructor"],
    ERR_INCOMPATIBLE_OPTION_PAIR: ["T", (one: string, other: string) => `Option "${one}" cannot be used in combination with option "${other}"`],
    ERR_INVALID_ARG_TYPE: ["T", wrongType],
    ERR_INVALID_ARG_VALUE: ["T", wrongValue],
    ERR_INVALID_BUFFER_SIZE: ["R", (bits: string) => `Buffer size must be a multiple of ${bits}`],
    ERR_INVALID_CHAR: ["T", (name: string, field?: string) => `Invalid character in ${name}${field === undefined ? "" : ` ["${field}"]`}`],
    ERR_INVALID_CURSOR_POS: ["T", "Cannot set cursor row without setting its column"],
    ERR_INVALID_FD: ["R", (fd: unknown) => `"fd" must be a positive integer: ${String(fd)}`],
    ERR_INVALID_FILE_URL_HOST: ["T", (platform: string) => `File URL host must be "localhost" or empty on ${platform}`],
    ERR_INVALID_FILE_URL_PATH: ["T", (reason: string) => `File URL path ${reason}`],
    ERR_INVALID_HANDLE_TYPE: ["T", "This handle type cannot be sent"],
    ERR_INVALID_HTTP_TOKEN: ["T", (name: string, field: unknown) => `${name} must be a valid HTTP token ["${String(field)}"]`],
    ERR_INVALID_IP_ADDRESS: ["T", (address: string) => `Invalid IP address: ${address}`],
    ERR_INVALID_MIME_SYNTAX: ["T", (production: string, text: string, at: number) => `The MIME syntax for a ${production} in ${JSON.stringify(text)} is invalid${at !== -1 ? ` at ${at}` : ""}`],
    ERR_INVALID_MODULE_SPECIFIER: ["T", (request: string, reason: string, base?: string) => `Invalid module "${request}" ${reason}${base ? ` imported from ${base}` : ""}`],
    ERR_INVALID_PROTOCOL: ["T", (protocol: string, expected: string) => `Protocol "${protocol}" not supported. Expected "${expected}"`],
    ERR_INVALID_RETURN_VALUE: ["T", wrongReturn],
    ERR_INVALID_STATE: ["E", (what: string) => `Invalid state: ${what}`],
    ERR_INVALID_THIS: ["T", (type: string) => `Value of "this" must be of type ${type}`],
    ERR_INVALID_TUPLE: ["T", (name: string, expected: string) => `${name} must be an iterable ${expected} tuple`],
    ERR_INVALID_URI: ["U", "URI malformed"],
    ERR_INVALID_URL: ["T", "Invalid URL"],
    ERR_INVALID_URL_SCHEME: ["T", (scheme: string) => `The URL must be of scheme ${scheme}`],
    ERR_IPC_CHANNEL_CLOSED: ["E", "Channel closed"],
    ERR_METHOD_NOT_IMPLEMENTED: ["E", (name: string) => `The ${name} method is not implemented`],
    ERR_MISSING_ARGS: ["T", missing],
    ERR_MISSING_OPTION: ["T", (name: string) => `${name} is required`],
    ERR_MULTIPLE_CALLBACK: ["E", "Callback called multiple times"],
    ERR_NO_CRYPTO: ["E", "Node.js is not compiled with OpenSSL crypto support"],
    ERR_OPERATION_FAILED: ["E", (reason: string) => `Operation failed: ${reason}`],
    ERR_OUT_OF_RANGE: ["R", outOfRange],
    ERR_PARSE_ARGS_INVALID_OPTION_VALUE: ["T", (message: string) => message],
    ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL: ["T", (text: string) => `Unexpected argument '${text}'. This command does not take positional arguments`],
    ERR_SERVER_ALREADY_LISTEN: ["E", "Listen method has been called more than once without closing."],
    ERR_SERVER_NOT_RUNNING: ["E", "Server is not running."],
    ERR_SOCKET_BAD_PORT: ["R", (name: string, port: unknown, zero = true) => `${name} should be ${zero ? ">=" : ">"} 0 and < 65536. Received ${received(port)}.`],
    ERR_SOCKET_CLOSED: ["E", "Socket is closed"],
    ERR_SOCKET_CONNECTION_TIMEOUT: ["E", "Socket connection timeout"],
    ERR_STREAM_ALREADY_FINISHED: ["E", (name: string) => `Cannot call ${name} after a stream was finished`],
    ERR_STREAM_CANNOT_PIPE: ["E", "Cannot pipe, not readable"],
    ERR_STREAM_DESTROYED: ["E", (name: string) => `Cannot call ${name} after a stream was destroyed`],
    ERR_STREAM_NULL_VALUES: ["T", "May not write null values to stream"],
    ERR_STREAM_PREMATURE_CLOSE: ["E", "Premature close"],
    ERR_STREAM_PUSH_AFTER_EOF: ["E", "stream.push() after EOF"],
    ERR_STREAM_UNABLE_TO_PIPE: ["E", "Cannot pipe to a closed or destroyed stream"],
    ERR_STREAM_UNSHIFT_AFTER_END_EVENT: ["E", "stream.unshift() after end event"],
    ERR_STREAM_WRAP: ["E", "Stream has StringDecoder set or is in objectMode"],
    ERR_STREAM_WRITE_AFTER_END: ["E", "write after end"],
    ERR_SYNTHETIC: ["E", "JavaScript Callstack"],
    ERR_TTY_INIT_FAILED: ["E", "TTY initialization failed"],
    ERR_UNAVAILABLE_DURING_EXIT: ["E", "Cannot call function in process exit handler"],
    ERR_UNCAUGHT_EXCEPTION_CAPTURE_ALREADY_SET: ["E", "`process.setupUncaughtExceptionCapture()` was called while a capture callback was already active"],
    ERR_UNESCAPED_CHARACTERS: ["T", (name: string) => `${name} contains unescaped characters`],
    ERR_UNHANDLED_ERROR: ["E", (value?: unknown) => (value === undefined ? "Unhandled error." : `Unhandled error. (${String(value)})`)],
    ERR_UNKNOWN_BUILTIN_MODULE: ["E", (name: string) => `No such built-in module: ${name}`],
    ERR_UNKNOWN_ENCODING: ["T", (encoding: unknown) => `Unknown encoding: ${typeof encoding === "object" && encoding !== null ? inspect(encoding, { depth: 0 }) : String(encoding)}`],
    ERR_UNKNOWN_FILE_EXTENSION: ["T", (extension: string, path: string) => `Unknown file extension "${extension}" for ${path}`],
    ERR_UNKNOWN_SIGNAL: ["T", (signal: unknown) => `Unknown signal: ${String(signal)}`],
    ERR_UNSUPPORTED_DIR_IMPORT: ["E", (path: string, base: string) => `Directory import '${path}' is not supported resolving ES modules imported from ${base}`],
    ERR_USE_AFTER_CLOSE: ["E", (name: string) => `${name} was closed`],
    ERR_WORKER_NOT_RUNNING: ["E", "Worker instance not running"],
    ERR_WORKER_PATH: ["T", (path: string) => `The worker script or module filename must be an absolute path or a relative path starting with './' or '../'. Received "${path}"`],
} as const satisfies Record<string, readonly ["T" | "R" | "E" | "U" | "S", Tell]>;

export type ErrorCode = keyof typeof table;
export const messages: Record<ErrorCode, readonly ["T" | "R" | "E" | "U" | "S", Tell]> = table;
