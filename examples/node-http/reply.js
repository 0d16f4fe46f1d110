const BODY_BYTES_MAX = 64 * 1024;

/** Thrown where a request cannot be answered as asked: the status, a sentence, and further fields of the reply. */
class ReplyError extends Error {
    constructor(status, message, fields = {}) {
        super(message);
        this.status = status;
        this.fields = fields;
    }
}

/** Replies with `value` as JSON. */
function send(response, status, value, fields = {}) {
    const text = `${JSON.stringify(value)}\n`;
    response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text), ...fields }).end(text);
}

/** The JSON of a request's body. */
async function received(request) {
    let text = "";
    // Who is refused is still to be told: the request must not be destroyed with the loop.
    for await (const part of request.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
        text += part;
        if (text.length > BODY_BYTES_MAX) throw new ReplyError(413, `at most ${BODY_BYTES_MAX} bytes of JSON`, { connection: "close" });
    }
    try {
        return JSON.parse(text);
    } catch {
        throw new ReplyError(400, "the body is not JSON");
    }
}

module.exports = { received, ReplyError, send };
