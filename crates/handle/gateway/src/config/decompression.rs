/// Which bodies of requests are decoded before an upstream gets them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decompression {
    pub(super) codings: Vec<RequestCoding>,
    pub(super) ratio_max: u64,
    pub(super) bytes_max: Option<u64>,
}

/// A coding of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestCoding {
    /// gzip (RFC 1952), with any number of members.
    Gzip,
    /// zlib's form (RFC 1950) of deflate, not the bare one.
    Deflate,
    /// Brotli (RFC 7932).
    Br,
    /// Zstandard (RFC 8878), with any number of frames.
    Zstd,
}

impl RequestCoding {
    /// The name in `Content-Encoding`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Br => "br",
            Self::Zstd => "zstd",
        }
    }
}

impl Decompression {
    /// The codings that are taken, in the order in which clients are told of them.
    pub fn codings(&self) -> &[RequestCoding] {
        &self.codings
    }

    /// How many times as long as the coded body the decoded one may be, at least 1.
    pub fn ratio_max(&self) -> u64 {
        self.ratio_max
    }

    /// The longest decoded body, in bytes; `None` for what the route allows for bodies at all.
    pub fn bytes_max(&self) -> Option<u64> {
        self.bytes_max
    }
}
