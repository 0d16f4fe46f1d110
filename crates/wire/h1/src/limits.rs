use leat_message::{Limits, Profile};

/// Limits for a response head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseLimits {
    /// Status line and fields together, in bytes.
    pub head_bytes_max: usize,
    /// Fields in one head.
    pub fields_max: usize,
}

impl Default for ResponseLimits {
    /// 64 KiB and 200 fields: upstreams are more trusted than clients, and set many cookies.
    fn default() -> Self {
        Self { head_bytes_max: 64 * 1024, fields_max: 200 }
    }
}

/// Limits for an incoming body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecoderLimits {
    /// Longest body without its framing, in bytes.
    pub body_bytes_max: u64,
    /// Longest trailer section, in bytes.
    pub trailer_bytes_max: usize,
    /// Longest extensions of one chunk, in bytes, from the first `;` on.
    pub chunk_extension_bytes_max: usize,
    /// Fields in a trailer section.
    pub fields_max: usize,
    /// In [`Profile::Strict`] chunk sizes have no leading zero, trailers are ASCII, and no chunk extension is accepted:
    /// nobody needs them (RFC 9112 section 7.1.1 tells recipients to ignore them), and many desyncs hid in one.
    pub profile: Profile,
}

impl DecoderLimits {
    /// The limits of a request body.
    pub fn new(limits: &Limits, profile: Profile) -> Self {
        Self {
            body_bytes_max: limits.body_bytes_max,
            trailer_bytes_max: limits.trailer_bytes_max,
            chunk_extension_bytes_max: limits.chunk_extension_bytes_max,
            fields_max: limits.fields_max,
            profile,
        }
    }
}

impl Default for DecoderLimits {
    fn default() -> Self {
        Self::new(&Limits::default(), Profile::Compatible)
    }
}
