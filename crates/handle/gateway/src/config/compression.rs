use leat_files::Coding;

/// Which replies are compressed on their way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compression {
    pub(super) codings: Vec<Coding>,
    pub(super) types: Vec<MediaRange>,
    pub(super) bytes_min: u64,
}

/// A media type, or all of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MediaRange {
    /// `text/html`
    Exactly(String),
    /// `text/*`: what stands before the star.
    Kind(String),
    /// `+json`: the end of a subtype, with its sign (RFC 6839).
    Suffix(String),
}

impl Compression {
    /// The codings, in the order of preference between those that a client likes equally.
    pub fn codings(&self) -> &[Coding] {
        &self.codings
    }

    /// Whether bodies of this type, without its parameters, are compressed.
    pub fn lists(&self, media_type: &[u8]) -> bool {
        self.types.iter().any(|range| range.contains(media_type))
    }

    /// The shortest body that is compressed, in bytes, where its length is known ahead.
    pub fn bytes_min(&self) -> u64 {
        self.bytes_min
    }
}

impl MediaRange {
    fn contains(&self, media_type: &[u8]) -> bool {
        let equal = |part: Option<&[u8]>, own: &str| part.is_some_and(|part| part.eq_ignore_ascii_case(own.as_bytes()));
        match self {
            Self::Exactly(own) => equal(Some(media_type), own),
            Self::Kind(own) => equal(media_type.get(..own.len()), own),
            Self::Suffix(own) => {
                equal(media_type.len().checked_sub(own.len()).and_then(|at| media_type.get(at..)), own)
            }
        }
    }
}
