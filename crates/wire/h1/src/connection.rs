use leat_message::{Field, Name, Reason, Version};

use crate::class::{TOKEN, is_blank};
use crate::fields::{Kind, Seen};

/// What the Connection fields of a message say together (RFC 9110 section 7.6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) close: bool,
    pub(crate) keep_alive: bool,
    pub(crate) upgrade: bool,
}

impl Options {
    /// Reads every Connection field.
    ///
    /// # Errors
    /// `connection.invalid` for a member that is not a token, and for one that names a field which a message cannot do
    /// without: a proxy that obeyed would strip Host, Content-Length or credentials on the next hop.
    #[inline(always)]
    pub(crate) fn parse(bytes: &[u8], seen: &Seen, fields: &[Field]) -> Result<Self, Reason> {
        match seen.count(Kind::Connection) {
            0 => Ok(Self::default()),
            1 if seen.value(Kind::Connection).of(bytes).eq_ignore_ascii_case(b"keep-alive") => {
                Ok(Self { keep_alive: true, ..Self::default() })
            }
            _ => Self::parse_all(bytes, fields),
        }
    }

    #[inline(never)]
    fn parse_all(bytes: &[u8], fields: &[Field]) -> Result<Self, Reason> {
        let mut options = Self::default();
        for field in fields.iter().filter(|field| field.id == Name::Connection) {
            for member in members(field.value.of(bytes)) {
                options.add(member)?;
            }
        }
        Ok(options)
    }

    fn add(&mut self, member: &[u8]) -> Result<(), Reason> {
        if member.eq_ignore_ascii_case(b"keep-alive") {
            self.keep_alive = true;
        } else if member.eq_ignore_ascii_case(b"close") {
            self.close = true;
        } else if member.eq_ignore_ascii_case(b"upgrade") {
            self.upgrade = true;
        } else if !TOKEN.all(member) || is_essential(Name::from_bytes(member)) {
            // An empty list member is legal to receive (RFC 9110 section 5.6.1.2), and a token of no bytes here.
            return Err(Reason::ConnectionInvalid);
        }
        Ok(())
    }

    /// Whether the connection may carry another message (RFC 9112 section 9.3).
    pub(crate) fn keeps_alive(self, version: Version) -> bool {
        !self.close && (version == Version::Http11 || self.keep_alive)
    }
}

/// Whether a field frames, routes, authorises or describes a message, so that no hop may drop it. Fields that proxies add
/// themselves, such as `X-Forwarded-For`, are theirs to protect.
fn is_essential(name: Name) -> bool {
    matches!(
        name,
        Name::Host
            | Name::ContentLength
            | Name::TransferEncoding
            | Name::ContentEncoding
            | Name::ContentType
            | Name::ContentRange
            | Name::Expect
            | Name::Authorization
            | Name::Cookie
    )
}

/// What the Upgrade fields ask for (RFC 9110 section 7.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Protocols {
    /// Whether there is a protocol besides `h2c`. RFC 9113 withdrew `h2c`, and a proxy that passes it on opens a tunnel
    /// around its own rules.
    pub(crate) usable: bool,
}

impl Protocols {
    /// Reads every Upgrade field.
    ///
    /// # Errors
    /// `upgrade.invalid` unless each is a list of `name` or `name/version`.
    pub(crate) fn parse(bytes: &[u8], fields: &[Field]) -> Result<Self, Reason> {
        let mut protocols = 0;
        let mut h2c = false;
        for field in fields.iter().filter(|field| field.id == Name::Upgrade) {
            for member in members(field.value.of(bytes)) {
                let (name, version) = match member.iter().position(|&b| b == b'/') {
                    Some(slash) => (member.get(..slash), member.get(slash + 1..)),
                    None => (Some(member), None),
                };
                let is_token = |part: &[u8]| !part.is_empty() && TOKEN.all(part);
                if !name.is_some_and(is_token) || !version.is_none_or(is_token) {
                    return Err(Reason::UpgradeInvalid);
                }
                h2c |= member.eq_ignore_ascii_case(b"h2c");
                protocols += 1;
            }
        }
        Ok(Self { usable: protocols > 0 && !h2c })
    }
}

/// Members of a comma-separated list, without the blanks around them; empty ones too.
pub(crate) fn members(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&b| b == b',').map(trim)
}

fn trim(mut bytes: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = bytes
        && is_blank(*first)
    {
        bytes = rest;
    }
    while let [rest @ .., last] = bytes
        && is_blank(*last)
    {
        bytes = rest;
    }
    bytes
}
