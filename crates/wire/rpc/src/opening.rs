use std::time::Duration;

use leat_message::{Head, Length, Method, Name};

use crate::{Coding, Form, MediaType, Status, connect, grpc, grpc_web};

/// What a request's head says about the call, whatever its protocol. Plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The protocol, and the form of the messages.
    pub media: MediaType,
    /// Whether it is a GET of Connect, whose message is in the query.
    pub is_get: bool,
    /// How the client's messages are compressed, if they are.
    pub received: Coding,
    /// How ours are.
    pub answered: Coding,
    /// What the client would wait at most.
    pub timeout: Option<Duration>,
}

/// Why a request's head opens no call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Not the content type of any protocol: 415 with `Accept-Post` ([`MediaType::ACCEPT_POST`]).
    Media,
    /// Not a method of any protocol: 405 with `Allow: POST`.
    Method,
    /// gRPC needs HTTP/2: 505.
    Version,
    /// It is of a protocol, which has a way to tell what is wrong.
    Call(Opening, Status),
}

impl Opening {
    /// Reads a request's head. Allocates only for a status.
    ///
    /// # Errors
    /// See [`Refused`]. Whether there is such a method, and whether it is a stream, is not looked at.
    pub fn read(head: Head<'_>) -> Result<Self, Refused> {
        if head.method() == Method::Get {
            return connect::request::open_get(head);
        }
        let media = head.fields().get(Name::ContentType).and_then(MediaType::from_bytes);
        match (head.method(), media) {
            (Method::Post, Some(MediaType::Grpc(_))) if head.version() != leat_message::Version::Http2 => {
                Err(Refused::Version)
            }
            (Method::Post, Some(media @ MediaType::Grpc(_))) => grpc::request::open(head, media),
            (Method::Post, Some(media @ (MediaType::GrpcWeb(_) | MediaType::GrpcWebText(_)))) => {
                grpc_web::request::open(head, media)
            }
            (Method::Post, Some(media)) => connect::request::open(head, media),
            (Method::Post, None) => Err(Refused::Media),
            _ => Err(Refused::Method),
        }
    }

    /// A call of this type without anything else.
    pub(crate) fn new(media: MediaType) -> Self {
        Self { media, is_get: false, received: Coding::Identity, answered: Coding::Identity, timeout: None }
    }

    /// The form of the messages.
    pub fn form(&self) -> Form {
        self.media.form()
    }

    /// Whether messages have envelopes: all but Connect's unary calls.
    pub fn is_enveloped(&self) -> bool {
        !matches!(self.media, MediaType::Connect(_))
    }
}

/// The coding to answer with: the client's own, if it uses one. A client that does not compress is not answered so either:
/// what it says to accept it says always, and the time is better spent.
pub(crate) fn answer_coding(received: Coding, accepted: Option<&[u8]>) -> Coding {
    let Some(accepted) = accepted else { return received };
    let mut names = accepted.split(|&byte| byte == b',').map(|name| {
        // A weight (`;q=0.5`) of HTTP's own field orders; it excludes only with 0.
        let mut parts = name.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
        let name = parts.next().unwrap_or_default();
        (name, parts.any(|weight| matches!(weight, b"q=0" | b"q=0.0" | b"q=0.00" | b"q=0.000")))
    });
    match names.any(|(name, excluded)| !excluded && (name == received.name().as_bytes() || name == b"*")) {
        true => received,
        false => Coding::Identity,
    }
}

/// Whether a request says that it has a body that is not empty. A stream of unknown length may be: clients over HTTP/2 tell
/// the end of a GET behind its head.
pub(crate) fn has_body(head: Head<'_>) -> bool {
    matches!(head.length(), Length::Known(count) if count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_compressed_as_the_request_is() {
        for (received, accepted, expected) in [
            (Coding::Identity, Some(&b"gzip, br"[..]), Coding::Identity),
            (Coding::Gzip, None, Coding::Gzip),
            (Coding::Gzip, Some(b"br, gzip"), Coding::Gzip),
            (Coding::Gzip, Some(b"br"), Coding::Identity),
            (Coding::Gzip, Some(b"gzip;q=0, br"), Coding::Identity),
            (Coding::Br, Some(b"*"), Coding::Br),
            (Coding::Zstd, Some(b""), Coding::Identity),
        ] {
            assert_eq!(answer_coding(received, accepted), expected, "{received:?} {accepted:?}");
        }
    }
}
