// Versions of node:http that differ from it in one way each. The table must tell every one of them from the original.

/** A node:http whose servers make messages of the classes that `change` returns, and are changed by `server` before anything listens. */
function mutant({ response, request, server: touch }) {
    return (http) => {
        const classes = {
            ...(response && { ServerResponse: response(http.ServerResponse) }),
            ...(request && { IncomingMessage: request(http.IncomingMessage) }),
        };
        const createServer = (options, listener) => {
            const given = typeof options === "function" || options == null ? { options: {}, listener: options ?? listener } : { options, listener };
            const server = http.createServer({ ...classes, ...given.options }, given.listener);
            touch?.(server);
            return server;
        };
        return { ...http, ...classes, createServer };
    };
}

/** Replaces the method `name` of a subclass; `change(before, ...args)` is called with the message as `this`. */
const method = (name, change) => (Base) => {
    class Mutant extends Base {}
    Object.defineProperty(Mutant, "name", { value: Base.name });
    Mutant.prototype[name] = function mutated(...args) {
        return change.call(this, (...rest) => Base.prototype[name].apply(this, rest), ...args);
    };
    return Mutant;
};

/** Changes the head that goes out. */
const head = (change) => mutant({
    response: method("_storeHeader", function store(before, first, headers) {
        before(first, headers);
        this._header = change(this._header);
    }),
});

/** Name of the mutant → the file of cases that must tell it. */
export const toldBy = {
    "names in lower case": "heads",
    "Date last": "heads",
    "Date in another form": "heads",
    "a wrong Date": "heads",
    "no Keep-Alive": "keep-alive",
    "another reason phrase": "write-head",
    "chunks in upper case": "bodies-out",
    "a chunk for an empty write": "bodies-out",
    "a body for 204": "write-head",
    "finish a turn late": "bodies-in",
    "no close of the reply": "bodies-in",
    "no aborted": "bodies-in",
    "another code": "set-header",
    "another message": "write-head",
    "cookies joined with commas": "heads",
    "every connection closed after its reply": "keep-alive",
    "reset in place of FIN": "http10",
    "half-open connections stay": "keep-alive",
    "clientError without its bytes": "client-error",
    "a longer keep-alive": "trailers",
    "an extra event": "bodies-in",
    "no 100 Continue": "expect",
};

export const mutants = {
    "names in lower case": head((text) => text.replace(/^[\w-]+(?=: )/gm, (name) => name.toLowerCase())),
    "Date last": head((text) => text.replace(/(Date: [^\r]*\r\n)([^]*)\r\n$/, "$2$1\r\n")),
    "Date in another form": head((text) => text.replace(/(?<=Date: )[^\r]*/, (date) => new Date(date).toISOString())),
    "a wrong Date": head((text) => text.replace(/(?<=Date: )[^\r]*/, "Thu, 01 Jan 1970 00:00:00 GMT")),
    "no Keep-Alive": head((text) => text.replace(/Keep-Alive: [^\r]*\r\n/, "")),
    "another reason phrase": head((text) => text.replace(" OK\r\n", " Ok\r\n")),
    "chunks in upper case": mutant({ response: method("_send", (before, data, ...rest) => before(typeof data === "string" && /^[0-9a-f]{1,8}$/.test(data) ? data.toUpperCase() : data, ...rest)) }),
    "a chunk for an empty write": mutant({ response: method("write", (before, data, ...rest) => before(data === "" ? " " : data, ...rest)) }),
    "a body for 204": mutant({
        response: method("writeHead", function write(before, ...args) {
            before(...args);
            this._hasBody = true;
            return this;
        }),
    }),
    "finish a turn late": mutant({
        response: method("emit", (before, name, ...args) => (name === "finish" ? void setImmediate(before, name, ...args) : before(name, ...args))),
    }),
    "no close of the reply": mutant({ response: method("emit", (before, name, ...args) => name !== "close" && before(name, ...args)) }),
    "no aborted": mutant({ request: method("emit", (before, name, ...args) => name !== "aborted" && before(name, ...args)) }),
    "another code": mutant({
        response: method("setHeader", (before, ...args) => {
            try {
                return before(...args);
            } catch (error) {
                error.code = "ERR_OTHER";
                throw error;
            }
        }),
    }),
    "another message": mutant({
        response: method("writeHead", (before, ...args) => {
            try {
                return before(...args);
            } catch (error) {
                error.message += ".";
                throw error;
            }
        }),
    }),
    "cookies joined with commas": mutant({
        request: method("_addHeaderLine", function add(before, field, value, to) {
            before(field, value, to);
            if (field.toLowerCase() === "cookie") to.cookie = to.cookie.replaceAll("; ", ", ");
        }),
    }),
    "every connection closed after its reply": mutant({ server: (server) => server.prependListener("request", (req, res) => void (res.shouldKeepAlive = false)) }),
    "reset in place of FIN": mutant({
        server: (server) => server.on("connection", (socket) => {
            // resetAndDestroy() would send FIN first.
            socket.destroySoon = () => void socket.write("", () => socket._handle?.reset(() => {}));
        }),
    }),
    "half-open connections stay": mutant({ server: (server) => void (server.httpAllowHalfOpen = true) }),
    "clientError without its bytes": mutant({ server: (server) => server.prependListener("clientError", (error) => void delete error.rawPacket) }),
    "a longer keep-alive": mutant({ server: (server) => void (server.keepAliveTimeout = 6000) }),
    "an extra event": mutant({ response: method("emit", (before, name, ...args) => (name === "finish" && before("prefinish"), before(name, ...args))) }),
    "no 100 Continue": mutant({ response: method("writeContinue", () => {}) }),
};
