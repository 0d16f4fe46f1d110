// The members that Node 20's manual has for the server's side of `http`, and what inherits into it from `net`.
const list = (text) => text.trim().split(/\s+/);

export const members = {
    server: {
        events: list("checkContinue checkExpectation clientError close connect connection dropRequest request upgrade listening error drop"),
        members: list(`close closeAllConnections closeIdleConnections headersTimeout listen listening maxHeadersCount requestTimeout setTimeout
            maxRequestsPerSocket timeout keepAliveTimeout address getConnections maxConnections ref unref`),
    },
    req: {
        events: list("aborted close data end error"),
        members: list(`aborted complete connection destroy headers headersDistinct httpVersion method rawHeaders rawTrailers setTimeout socket
            statusCode statusMessage trailers trailersDistinct url`),
    },
    res: {
        events: list("close finish drain prefinish"),
        members: list(`addTrailers appendHeader connection cork destroy end finished flushHeaders getHeader getHeaderNames getHeaders hasHeader headersSent
            pipe removeHeader req sendDate setHeader setHeaders setTimeout socket statusCode statusMessage strictContentLength uncork writableCorked
            writableEnded writableFinished writableHighWaterMark writableLength writableObjectMode write writeContinue writeEarlyHints writeHead writeProcessing`),
    },
    http: {
        events: [],
        members: list("METHODS STATUS_CODES createServer Server IncomingMessage OutgoingMessage ServerResponse maxHeaderSize validateHeaderName validateHeaderValue globalAgent request get"),
    },
    options: {
        events: [],
        members: list(`connectionsCheckingInterval headersTimeout highWaterMark insecureHTTPParser IncomingMessage joinDuplicateHeaders keepAlive
            keepAliveInitialDelay keepAliveTimeout maxHeaderSize noDelay requestTimeout requireHostHeader ServerResponse uniqueHeaders rejectNonStandardBodyWrites`),
    },
    // A tls.Server's, for https.
    secure: { events: list("secureConnection tlsClientError"), members: list("setSecureContext") },
};
