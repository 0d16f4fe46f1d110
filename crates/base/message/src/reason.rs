use std::fmt::Write as _;

/// Who is to blame when the engine refuses or gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The client that connected to us.
    Peer,
    /// Whoever called this exchange off in our own process or configuration (a route that does not exist, say).
    Caller,
    /// The server behind us.
    Upstream,
    /// Leat itself: overload, shutdown, a bug.
    Us,
}

macro_rules! reasons {
    ($($variant:ident => $code:literal, $status:literal, $blame:ident, $text:literal;)+) => {
        /// Why something was refused. Every refusal has one; the code is stable and stands in the access record, in the
        /// metric label and in the reference table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Reason {
            $(#[doc = $text] $variant,)+
        }

        impl Reason {
            /// Every reason, in the order of the reference table.
            pub const ALL: &'static [Reason] = &[$(Reason::$variant),+];

            /// The stable code, such as `head.bare_lf`.
            pub fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)+ }
            }

            /// The HTTP status of the refusal; 0 where the connection just ends.
            pub fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)+ }
            }

            /// Who is to blame.
            pub fn blame(self) -> Blame {
                match self { $(Self::$variant => Blame::$blame,)+ }
            }

            /// One sentence for people.
            pub fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    };
}

reasons! {
    // The request line and the fields (RFC 9112 sections 2, 3 and 5).
    HeadBareCr => "head.bare_cr", 400, Peer, "A carriage return without a line feed in the head.";
    HeadBareLf => "head.bare_lf", 400, Peer, "A line feed without a carriage return in the head.";
    HeadControlByte => "head.control_byte", 400, Peer, "A control byte or NUL in the head.";
    HeadObsFold => "head.obs_fold", 400, Peer, "A field value continued on a line that starts with white space.";
    HeadSpaceBeforeColon => "head.space_before_colon", 400, Peer, "White space between a field name and its colon.";
    HeadLeadingSpace => "head.leading_space", 400, Peer, "White space before the first field name.";
    HeadNameEmpty => "head.name_empty", 400, Peer, "A field line with an empty name.";
    HeadNameInvalid => "head.name_invalid", 400, Peer, "A field name with a byte that is not a token character.";
    HeadColonMissing => "head.colon_missing", 400, Peer, "A field line without a colon.";
    HeadObsText => "head.obs_text", 400, Peer, "A byte of 0x80 or above in a field value, where only ASCII is taken.";
    HeadCutOff => "head.cut_off", 400, Peer, "The connection ended inside a head.";
    LineMethodInvalid => "line.method_invalid", 400, Peer, "The method is empty or has a byte that is not a token character.";
    LineSpacing => "line.spacing", 400, Peer, "The request line is not method, one space, target, one space, version.";
    LineTargetInvalid => "line.target_invalid", 400, Peer, "The request target has a byte or a form that is not allowed.";
    LineTargetFragment => "line.target_fragment", 400, Peer, "The request target has a fragment.";
    LineTargetForm => "line.target_form", 400, Peer, "The form of the request target does not fit the method.";
    LineVersionInvalid => "line.version_invalid", 400, Peer, "The version is not written as HTTP/digit.digit.";
    LineVersionUnsupported => "line.version_unsupported", 505, Peer, "The version is neither HTTP/1.0 nor HTTP/1.1.";
    LineStatusInvalid => "line.status_invalid", 400, Peer, "The status is not three digits from 100 to 599 between single spaces.";
    LineHttp2Preface => "line.http2_preface", 400, Peer, "An HTTP/2 preface on a listener where HTTP/2 is off.";
    LineTlsBytes => "line.tls_bytes", 400, Peer, "A TLS handshake on a plain-text listener.";
    HostMissing => "host.missing", 400, Peer, "An HTTP/1.1 request without Host.";
    HostRepeated => "host.repeated", 400, Peer, "More than one Host field.";
    HostInvalid => "host.invalid", 400, Peer, "Host or authority is not a host with an optional port.";
    HostUserinfo => "host.userinfo", 400, Peer, "Host or authority carries user information.";
    HostConflict => "host.conflict", 400, Peer, "Host differs from the authority of an absolute target.";
    HostMisdirected => "host.misdirected", 421, Peer, "The host is not one that this TLS connection was opened for.";
    ExpectUnknown => "expect.unknown", 417, Peer, "An Expect other than 100-continue.";
    ConnectionInvalid => "connection.invalid", 400, Peer, "A Connection field that is not a list of tokens, or that names a field a message cannot do without.";
    UpgradeInvalid => "upgrade.invalid", 400, Peer, "An Upgrade that is malformed or not allowed here.";

    // Framing (RFC 9112 sections 6 and 7).
    BodyLengthInvalid => "body.length_invalid", 400, Peer, "Content-Length is not a plain decimal number.";
    BodyLengthRepeated => "body.length_repeated", 400, Peer, "More than one Content-Length, or a list.";
    BodyLengthOverflow => "body.length_overflow", 400, Peer, "Content-Length is larger than any body could be.";
    BodyLengthConflict => "body.length_conflict", 400, Peer, "Content-Length beside Transfer-Encoding.";
    BodyCodingUnknown => "body.coding_unknown", 501, Peer, "A transfer coding other than chunked.";
    BodyCodingInvalid => "body.coding_invalid", 400, Peer, "Transfer-Encoding is empty, repeated, obfuscated, or chunked is not last.";
    BodyCodingHttp10 => "body.coding_http10", 400, Peer, "Transfer-Encoding in an HTTP/1.0 message.";
    BodyNotAllowed => "body.not_allowed", 400, Peer, "A body with a method that must not have one.";
    BodyCutOff => "body.cut_off", 400, Peer, "The connection ended inside a body.";
    ChunkSizeInvalid => "chunk.size_invalid", 400, Peer, "A chunk size that is not plain hexadecimal.";
    ChunkSizeOverflow => "chunk.size_overflow", 400, Peer, "A chunk size that does not fit 64 bits.";
    ChunkExtensionInvalid => "chunk.extension_invalid", 400, Peer, "A chunk extension with a byte that is not allowed.";
    ChunkEndMissing => "chunk.end_missing", 400, Peer, "A chunk or its size line that is not ended by CRLF.";
    TrailerInvalid => "trailer.invalid", 400, Peer, "A malformed field line in the trailer section.";
    TrailerForbidden => "trailer.forbidden", 400, Peer, "A trailer field that frames, routes or authenticates.";

    // Named limits.
    LimitHeadBytes => "limit.head_bytes", 431, Peer, "The head is longer than head_bytes_max.";
    LimitFields => "limit.fields", 431, Peer, "The head has more fields than fields_max.";
    LimitFieldBytes => "limit.field_bytes", 431, Peer, "A field is longer than field_bytes_max.";
    LimitTargetBytes => "limit.target_bytes", 414, Peer, "The target is longer than target_bytes_max.";
    LimitBodyBytes => "limit.body_bytes", 413, Peer, "The body is longer than body_bytes_max.";
    LimitTrailerBytes => "limit.trailer_bytes", 431, Peer, "The trailer section is longer than trailer_bytes_max.";
    LimitChunkExtension => "limit.chunk_extension", 400, Peer, "A chunk's extensions are longer than chunk_extension_bytes_max.";
    CodingUnknown => "coding.unknown", 415, Peer, "The body has a coding that the route does not take, or more than one.";
    CodingInvalid => "coding.invalid", 400, Peer, "The body is not what its coding says, or goes on behind the coding's end.";
    CodingCutOff => "coding.cut_off", 400, Peer, "The body ends inside its coding.";
    CodingRatio => "coding.ratio", 413, Peer, "The decoded body is more than decompress.ratio_max times as long as the coded one.";
    CodingBytes => "coding.bytes", 413, Peer, "The decoded body is longer than decompress.bytes_max.";
    CodingWindow => "coding.window", 413, Peer, "The body's coding refers back further than 8 MiB.";
    CodingBusy => "coding.busy", 503, Us, "The decoders of this core hold all the memory that they may.";
    LimitConnections => "limit.connections", 503, Us, "More connections than connections_max.";
    LimitConnectionsPerClient => "limit.connections_per_client", 503, Peer, "More connections of one client than connections_per_client_max.";
    LimitHandshakes => "limit.handshakes", 0, Us, "More TLS handshakes under way than handshakes_max.";
    LimitRate => "limit.rate", 429, Caller, "More requests than a rate limit of the route lets pass.";
    LimitStore => "limit.store", 503, Us, "The server that counts for a rate limit did not answer, and the limit is closed then.";
    LimitMemory => "limit.memory", 503, Us, "Buffers hold more than memory_bytes_max.";
    TimeHead => "time.head", 408, Peer, "The head did not arrive within head_time_ms.";
    TimeBody => "time.body", 408, Peer, "The body did not arrive within body_time_ms.";
    TimeIdle => "time.idle", 0, Peer, "No request within idle_time_ms.";
    TimeHandshake => "time.handshake", 0, Peer, "The TLS handshake took longer than handshake_time_ms.";
    SlowSender => "slow.sender", 408, Peer, "The client sent fewer bytes a second than throughput_bytes_min.";
    SlowReader => "slow.reader", 0, Peer, "The client took fewer bytes a second than throughput_bytes_min.";

    // Connections.
    PeerReset => "peer.reset", 0, Peer, "The client reset the connection, or it broke.";
    PeerEnded => "peer.ended", 0, Peer, "The client ended the connection before its reply.";
    PeerCancelled => "peer.cancelled", 0, Peer, "The client reset the stream.";
    TlsHandshake => "tls.handshake", 0, Peer, "The TLS handshake failed.";
    TlsPlainText => "tls.plain_text", 400, Peer, "Plain HTTP on a listener that speaks TLS.";
    ProxyHeaderInvalid => "proxy_header.invalid", 0, Peer, "A malformed or missing PROXY protocol header.";
    H2Flood => "h2.flood", 0, Peer, "A flood of HTTP/2 frames that serve no request.";
    H2Protocol => "h2.protocol", 0, Peer, "An HTTP/2 protocol error.";
    H2HeadInvalid => "h2.head_invalid", 400, Peer, "An HTTP/2 request head that HTTP/1.1 could not carry unharmed.";

    // Routing and handlers.
    RouteNotFound => "route.not_found", 404, Caller, "No route matches this request.";
    RouteMethod => "route.method_not_allowed", 405, Caller, "The route does not allow this method.";
    RoutePathDots => "route.path_dots", 400, Peer, "The path has a `.` or `..` segment, in some spelling.";
    RoutePathAmbiguous => "route.path_ambiguous", 400, Peer, "The path can be read in more than one way, and they lead to different routes.";
    AccessAddress => "access.address", 403, Peer, "The client's address is not one that may use this route.";
    CorsOrigin => "cors.origin", 403, Peer, "Pages of this origin may not use this route.";
    CorsMethod => "cors.method", 403, Peer, "Pages of other origins may not use this method here.";
    CorsHeaders => "cors.headers", 403, Peer, "Pages of other origins may not send one of these fields here.";
    RouteMaintenance => "route.maintenance", 503, Us, "The route is closed for a while.";
    FaultStatus => "fault.status", 503, Us, "The configuration asks for this failure.";
    FaultReset => "fault.reset", 0, Us, "The configuration asks for this reset.";
    FileNotFound => "file.not_found", 404, Caller, "There is no such file.";
    FileForbidden => "file.forbidden", 403, Caller, "The path is outside the directory, hidden, or may not be read.";
    FileFailed => "file.failed", 500, Us, "The file could not be read.";
    HandlerPanic => "handler.panic", 500, Us, "The handler panicked.";
    HandlerFailed => "handler.failed", 500, Us, "The handler failed.";
    Draining => "us.draining", 503, Us, "The process is shutting down.";
    LaneGone => "lane.gone", 503, Us, "The JavaScript thread that should answer has ended, and there is no other.";
    LaneBlocked => "lane.blocked", 503, Us, "The JavaScript thread that should answer took nothing for 30 seconds.";
    LaneTurnTime => "lane.turn_time", 503, Us, "JavaScript ran for longer than one turn may, and was stopped.";
    LaneAborted => "lane.aborted", 0, Caller, "JavaScript cut the exchange off.";

    // RPC. Calls are told in their protocol's way; the statuses are those of what is no call.
    RpcMediaType => "rpc.media_type", 415, Peer, "The request's content type is of no RPC protocol, or not of the kind that this method takes.";
    RpcHttpVersion => "rpc.http_version", 505, Peer, "gRPC over another version than HTTP/2.";
    RpcUnknownMethod => "rpc.unknown_method", 404, Caller, "There is no such RPC method.";
    RpcProtocol => "rpc.protocol", 400, Peer, "The request breaks the rules of its RPC protocol.";
    RpcMessageBytes => "rpc.message_bytes", 429, Peer, "A message is longer than receive_bytes_max.";
    RpcDeadline => "rpc.deadline", 504, Caller, "The deadline that the client set passed before the answer.";
    RpcFault => "rpc.fault", 0, Us, "The service breaks the call off on purpose.";

    // Authentication (RFC 9110 section 15.5.2) and what a client may do (section 15.5.4).
    AuthMissing => "auth.missing", 401, Peer, "The request shows no credentials that this route takes.";
    AuthMalformed => "auth.malformed", 401, Peer, "The credentials are not in the form that their scheme asks for, or stand twice.";
    AuthCredentials => "auth.credentials", 401, Peer, "The key, or the user with this password, is not known.";
    AuthTokenMalformed => "auth.token_malformed", 401, Peer, "The token is not a JSON Web Token that is taken here.";
    AuthAlgorithm => "auth.algorithm", 401, Peer, "The token's algorithm is not one that is taken.";
    AuthKeyUnknown => "auth.key_unknown", 401, Peer, "The token's key is not one of the issuer's.";
    AuthSignature => "auth.signature", 401, Peer, "The token's signature is not that of its key.";
    AuthExpired => "auth.expired", 401, Peer, "The token has expired, or never would.";
    AuthNotYet => "auth.not_yet", 401, Peer, "The token does not hold yet.";
    AuthIssuer => "auth.issuer", 401, Peer, "The token is another issuer's.";
    AuthAudience => "auth.audience", 401, Peer, "The token is meant for somebody else.";
    AuthClaims => "auth.claims", 403, Peer, "The client is known but may not do this.";
    AuthCertificateMissing => "auth.certificate_missing", 403, Peer, "The client shows no certificate that can be verified.";
    AuthCertificateUnknown => "auth.certificate_unknown", 403, Peer, "The client's certificate has none of the names that are taken.";
    AuthDenied => "auth.denied", 403, Peer, "The service that decides over requests said no.";
    AuthKeysUnavailable => "auth.keys_unavailable", 503, Us, "The issuer's keys could not be fetched so far.";
    AuthBusy => "auth.busy", 503, Us, "More passwords wait to be checked than passwords_waiting_max.";
    AuthServiceFailed => "auth.service_failed", 503, Us, "The service that decides over requests could not be asked.";
    PluginFailed => "plugin.failed", 500, Us, "A plug-in threw, or returned what can't be sent.";
    PluginTurnTime => "plugin.turn_time", 503, Us, "A plug-in ran for longer than plugin_limits.turn_time, and was stopped.";
    PluginWaitTime => "plugin.wait_time", 504, Us, "A plug-in waited for longer than plugin_limits.wait_time.";
    PluginLost => "plugin.lost", 503, Us, "Plug-ins used up plugin_limits.memory, or ended the process: their world is made anew.";
    PluginBusy => "plugin.busy", 503, Us, "Bodies that plug-ins are reading take up a quarter of plugin_limits.memory.";
    PluginRequestBody => "plugin.request_body", 413, Peer, "The request's body is longer than plugin_limits.body_bytes_max, and a plug-in reads it.";
    PluginResponseBody => "plugin.response_body", 502, Us, "The response's body is longer than plugin_limits.body_bytes_max, and a plug-in reads it.";

    // The admin API.
    AdminUnknown => "admin.unknown", 404, Peer, "The admin API has nothing of this path, or of this name.";
    AdminMethod => "admin.method", 405, Peer, "The admin API takes another method here.";
    AdminRequest => "admin.request", 400, Peer, "The query or the body is not what the admin API takes here.";
    AdminHost => "admin.host", 403, Peer, "The admin API was asked for by a host name that is not in admin.hosts.";
    AdminOrigin => "admin.origin", 403, Peer, "A web page may change nothing in the admin API.";
    AdminReadOnly => "admin.read_only", 403, Peer, "The configuration has no admin.token, and without one nothing is changed.";
    AdminTokenMissing => "admin.token_missing", 401, Peer, "The request does not show the admin token.";
    AdminTokenWrong => "admin.token_wrong", 403, Peer, "The token is not that of the configuration.";
    AdminConfig => "admin.config", 422, Peer, "The configuration could not be taken over; the old one stays.";

    // The upstream (RFC 9110 section 15.6).
    UpstreamResolve => "upstream.resolve", 502, Upstream, "The endpoint's name could not be resolved.";
    UpstreamConnect => "upstream.connect", 502, Upstream, "The endpoint refused the connection or could not be reached.";
    UpstreamConnectTime => "upstream.connect_time", 504, Upstream, "No connection to the endpoint within connect_time_ms.";
    UpstreamTls => "upstream.tls", 502, Upstream, "The TLS handshake with the endpoint failed.";
    // What was wrong in such a handshake: the detail of `upstream.tls`, never the end of a request.
    CertificateExpired => "certificate.expired", 502, Upstream, "The endpoint's certificate has expired.";
    CertificateNotYetValid => "certificate.not_yet_valid", 502, Upstream, "The endpoint's certificate is not valid yet: it is too new, or a clock is wrong.";
    CertificateName => "certificate.name", 502, Upstream, "The endpoint's certificate is for another name than the one that it was asked for.";
    CertificateIssuer => "certificate.issuer", 502, Upstream, "No authority that the upstream trusts has signed the endpoint's certificate.";
    CertificateInvalid => "certificate.invalid", 502, Upstream, "The endpoint's certificate cannot be read, or is for another use.";
    TlsProtocol => "tls.protocol", 502, Upstream, "The endpoint has not chosen HTTP/2 in the TLS handshake.";
    UpstreamPool => "upstream.pool", 503, Upstream, "Every connection to the endpoint is in use and the queue is full or took too long.";
    UpstreamNone => "upstream.none", 503, Upstream, "The upstream has no endpoint to try.";
    UpstreamBreaker => "upstream.breaker", 503, Upstream, "The breaker lets nothing through: the upstream has failed too often.";
    UpstreamUnhealthy => "upstream.unhealthy", 503, Upstream, "Every endpoint of the upstream fails its health checks.";
    UpstreamConcurrency => "upstream.concurrency", 503, Upstream, "The upstream has as many requests under way as it can take, and the queue is full or took too long.";
    UpstreamDraining => "upstream.draining", 503, Upstream, "Every endpoint of the upstream that is well is being drained.";
    UpstreamStatus => "upstream.status", 502, Upstream, "A try was answered with a status that is tried again; never the end of a request.";
    UpstreamReset => "upstream.reset", 502, Upstream, "The endpoint ended the connection before its response was complete.";
    UpstreamInvalid => "upstream.invalid", 502, Upstream, "The endpoint sent something that is not a valid response.";
    UpstreamHeadBytes => "upstream.head_bytes", 502, Upstream, "The endpoint's response head is over the limit.";
    UpstreamResponseTime => "upstream.response_time", 504, Upstream, "No response head within response_time_ms.";
    UpstreamIdleTime => "upstream.idle_time", 504, Upstream, "The endpoint sent or took nothing for idle_time_ms.";
    UpstreamTotalTime => "upstream.total_time", 504, Upstream, "The exchange took longer than total_time_ms.";
    UpstreamRpc => "upstream.rpc", 502, Upstream, "The endpoint's response is none of gRPC, or its message none of the method's.";
    UpstreamUpgrade => "upstream.upgrade", 502, Upstream, "The endpoint switched to a protocol that the client did not ask for.";
}

impl Reason {
    /// The body of an error reply: problem details (RFC 9457) with the stable code. Allocates once.
    pub fn problem(self) -> String {
        self.problem_as(self.status())
    }

    /// The same with another status, for reasons whose status is not always the same.
    pub fn problem_as(self, status: u16) -> String {
        /// The fixed text, the status, and room to spare.
        const REST_BYTES: usize = 96;
        let title = title(status);
        let mut out = String::with_capacity(title.len() + self.code().len() + self.text().len() + REST_BYTES);
        // Writing to a String can't fail.
        let _ = writeln!(
            out,
            "{{\"type\":\"about:blank\",\"title\":\"{title}\",\"status\":{},\"code\":\"{}\",\"detail\":\"{}\"}}",
            status,
            self.code(),
            self.text()
        );
        out
    }
}

/// The reason phrase of the statuses that reasons use (RFC 9110 section 15).
fn title(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "Error",
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn codes_are_unique_and_well_formed() {
        let mut seen = HashSet::new();
        for reason in Reason::ALL {
            assert!(seen.insert(reason.code()), "{} stands twice", reason.code());
            assert!(
                reason.code().bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'.')
            );
            assert!(reason.text().ends_with('.'));
        }
    }
}
