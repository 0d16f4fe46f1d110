use std::io;
use std::rc::Rc;

use leat_message::Address;
use rustls::{Error, InvalidMessage, PeerIncompatible};

/// Who is told of the handshakes that fail, beside the counters.
pub type OnUnshaken = Rc<dyn Fn(Unshaken)>;

/// A connection that did not get through its TLS handshake. It is closed as soon as its client has read why.
#[derive(Clone, Debug)]
pub struct Unshaken {
    /// The client's address.
    pub remote: Address,
    /// The address they connected to.
    pub local: Address,
    /// What went wrong.
    pub problem: TlsProblem,
}

/// What was wrong with a handshake, as far as programs tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsProblem {
    /// Plain HTTP.
    PlainHttp,
    /// Bytes that are no TLS.
    NoTls,
    /// The client ended the connection.
    Ended,
    /// The client reset the connection.
    Reset,
    /// It took too long.
    Time,
    /// No version in common.
    Version,
    /// No cipher suite, group or kind of signature in common.
    Suite,
    /// No protocol in common (ALPN).
    Protocol,
    /// The client has shown no certificate, and one is required.
    CertificateMissing,
    /// The client's certificate is refused.
    CertificateRefused,
    /// The client gave up, with this alert (RFC 8446 section 6.2).
    Alert(u8),
    /// Anything else: the client broke the protocol.
    Other,
}

impl TlsProblem {
    /// What the error of a handshake tells.
    pub(crate) fn of(error: &io::Error) -> Self {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
        match (inner, error.kind()) {
            (Some(error), _) => Self::of_tls(error),
            (None, io::ErrorKind::UnexpectedEof) => Self::Ended,
            (None, _) => Self::Reset,
        }
    }

    fn of_tls(error: &Error) -> Self {
        match error {
            Error::InvalidMessage(InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion) => {
                Self::NoTls
            }
            Error::PeerIncompatible(
                PeerIncompatible::SupportedVersionsExtensionRequired
                | PeerIncompatible::Tls12NotOffered
                | PeerIncompatible::Tls12NotOfferedOrEnabled
                | PeerIncompatible::Tls13RequiredForQuic,
            ) => Self::Version,
            Error::PeerIncompatible(_) => Self::Suite,
            Error::NoApplicationProtocol => Self::Protocol,
            Error::NoCertificatesPresented => Self::CertificateMissing,
            Error::InvalidCertificate(_) => Self::CertificateRefused,
            Error::AlertReceived(alert) => Self::Alert(u8::from(*alert)),
            _ => Self::Other,
        }
    }
}
