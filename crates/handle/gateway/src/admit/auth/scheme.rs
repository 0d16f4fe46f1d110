use std::rc::Rc;

use leat_message::{Exchange, Head, Peer, Reason};

use super::api_keys::ApiKeyCheck;
use super::bearer::BearerCheck;
use super::certificate::CertificateCheck;
use super::external::ExternalCheck;
use super::identity::Identity;
use super::password_check::PasswordCheck;

/// What a scheme finds out about a request.
#[derive(Debug)]
pub(super) enum Found {
    /// Who it is from.
    Known(Rc<Identity>),
    /// It shows nothing that this scheme looks at.
    Absent,
    /// What it shows is not taken.
    Refused(Reason),
    /// Not taken (401), with the challenge of whoever decided.
    Challenged(Box<[u8]>),
    /// Only the exchange step can tell.
    Wait,
}

/// A scheme of the configuration, compiled for one core; routes that name it share it and what it remembers.
pub(super) enum Scheme {
    ApiKeys(ApiKeyCheck),
    Passwords(PasswordCheck),
    Bearer(BearerCheck),
    Certificate(CertificateCheck),
    External(ExternalCheck),
}

impl Scheme {
    /// What the head says at once. No allocation for a client that is remembered.
    pub(super) fn ask(&self, head: Head<'_>, peer: &Peer) -> Found {
        match self {
            Self::ApiKeys(check) => check.ask(head),
            Self::Passwords(check) => check.ask(head),
            Self::Bearer(check) => check.ask(head),
            Self::Certificate(check) => check.ask(peer),
            Self::External(_) => Found::Wait,
        }
    }

    /// Goes on where [`Scheme::ask`] said [`Found::Wait`]; never says it itself.
    pub(super) async fn wait<X: Exchange>(&self, x: &mut X) -> Found {
        match self {
            Self::Passwords(check) => check.wait(x).await,
            Self::Bearer(check) => check.wait(x).await,
            Self::External(check) => check.wait(x).await,
            Self::ApiKeys(_) | Self::Certificate(_) => Found::Refused(Reason::HandlerFailed),
        }
    }

    /// What a client is told that shows nothing, or nothing good (RFC 9110 section 11.6.1); `None` for a scheme that asks
    /// in another way.
    pub(super) fn challenge(&self, refused: bool) -> Option<&[u8]> {
        match self {
            Self::ApiKeys(check) => Some(check.challenge()),
            Self::Passwords(check) => Some(check.challenge()),
            Self::Bearer(check) => Some(check.challenge(refused)),
            Self::Certificate(_) | Self::External(_) => None,
        }
    }

    /// What a client is told that is known and may not do this; `None` for a scheme without claims.
    pub(super) fn forbids(&self) -> Option<&[u8]> {
        match self {
            Self::Bearer(check) => Some(check.forbids()),
            Self::ApiKeys(_) | Self::Passwords(_) | Self::Certificate(_) | Self::External(_) => None,
        }
    }

    /// Why a request is refused that shows nothing.
    pub(super) fn absent(&self) -> Reason {
        match self {
            Self::Certificate(_) => Reason::AuthCertificateMissing,
            _ => Reason::AuthMissing,
        }
    }
}
