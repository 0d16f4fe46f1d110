use leat_message::Reason;
use leat_rpc_wire::{Code, Status};

/// Why a call can't go on: what the record says, and what the client is told.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) reason: Reason,
    pub(super) status: Status,
}

impl Failure {
    /// The client's request is wrong.
    pub(super) fn request(code: Code, message: impl Into<String>) -> Self {
        Self { reason: Reason::RpcProtocol, status: Status::new(code, message) }
    }

    /// A message is longer than allowed.
    pub(super) fn too_long(bytes_max: usize) -> Self {
        let message = format!("a message is longer than {bytes_max} bytes");
        Self { reason: Reason::RpcMessageBytes, status: Status::new(Code::ResourceExhausted, message) }
    }

    /// What the upstream sent is no gRPC response.
    pub(super) fn upstream(message: impl Into<String>) -> Self {
        Self { reason: Reason::UpstreamRpc, status: Status::new(Code::Internal, message) }
    }
}

impl From<Reason> for Failure {
    fn from(reason: Reason) -> Self {
        Self { reason, status: status_of(reason) }
    }
}

/// What a client of any RPC protocol is told of a refusal.
pub fn status_of(reason: Reason) -> Status {
    status_as(reason, reason.status())
}

/// The same where the refusal has another HTTP status than the reason's own.
pub(super) fn status_as(reason: Reason, http_status: u16) -> Status {
    let code = match http_status {
        400 | 415 => Code::InvalidArgument,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 | 405 | 501 => Code::Unimplemented,
        413 | 429 | 431 => Code::ResourceExhausted,
        408 | 504 => Code::DeadlineExceeded,
        502 | 503 => Code::Unavailable,
        _ => Code::Internal,
    };
    Status::new(code, format!("{} ({})", reason.text().trim_end_matches('.'), reason.code()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_refusal_is_told_as_a_success() {
        for &reason in Reason::ALL {
            let status = status_of(reason);
            assert!(!status.is_ok() && status.message.contains(reason.code()), "{reason}");
        }
        assert_eq!(status_of(Reason::UpstreamConnect).code, Code::Unavailable);
        assert_eq!(status_of(Reason::UpstreamTotalTime).code, Code::DeadlineExceeded);
        assert_eq!(status_of(Reason::LimitRate).code, Code::ResourceExhausted);
        assert_eq!(status_of(Reason::AuthMissing).code, Code::Unauthenticated);
    }
}
