use crate::class::{TOKEN, VALUE, is_blank};

/// Where a chunk extension stands in its grammar (RFC 9112 section 7.1.1): `; name`, `; name = token`, `; name =
/// "quoted"`, any number of them, with blanks allowed around `;` and `=` but not at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extension {
    /// Behind a `;`.
    BeforeName,
    Name,
    /// Blanks behind a name.
    AfterName,
    /// Behind a `=`.
    BeforeValue,
    Value,
    Quoted,
    /// Behind a backslash in a quoted string.
    Escaped,
    /// Right behind the closing quote.
    Closed,
    /// Blanks behind a value.
    AfterValue,
}

impl Extension {
    /// The place behind `byte`; `None` if it is not allowed here.
    pub(crate) fn step(self, byte: u8) -> Option<Self> {
        let blank = is_blank(byte);
        Some(match self {
            Self::BeforeName if blank => self,
            Self::BeforeName | Self::Name if TOKEN.has(byte) => Self::Name,
            Self::Name | Self::AfterName if blank => Self::AfterName,
            Self::Name | Self::AfterName if byte == b'=' => Self::BeforeValue,
            Self::BeforeValue if blank => self,
            Self::BeforeValue if byte == b'"' => Self::Quoted,
            Self::BeforeValue | Self::Value if TOKEN.has(byte) => Self::Value,
            Self::Quoted if byte == b'"' => Self::Closed,
            Self::Quoted if byte == b'\\' => Self::Escaped,
            Self::Quoted | Self::Escaped if VALUE.has(byte) => Self::Quoted,
            Self::Value | Self::Closed | Self::AfterValue if blank => Self::AfterValue,
            Self::Name | Self::AfterName | Self::Value | Self::Closed | Self::AfterValue if byte == b';' => {
                Self::BeforeName
            }
            _ => return None,
        })
    }

    /// Whether the size line may end here.
    pub(crate) fn may_end(self) -> bool {
        matches!(self, Self::Name | Self::Value | Self::Closed)
    }
}
