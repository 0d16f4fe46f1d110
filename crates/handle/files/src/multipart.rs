use std::hash::{BuildHasher, RandomState};

use crate::body::Segment;
use crate::ranges::Part;

/// A boundary that nobody can guess, so that no file can be written to contain it.
pub(crate) fn boundary() -> String {
    let (high, low) = (RandomState::new().hash_one(0u8), RandomState::new().hash_one(1u8));
    format!("leat-{high:016x}{low:016x}")
}

/// The body of a reply with several parts (RFC 9110 section 14.6).
pub(crate) fn segments(parts: &[Part], whole: u64, media_type: &str, boundary: &str) -> Vec<Segment> {
    let mut segments = Vec::with_capacity(parts.len() * 2 + 1);
    let mut before = "";
    for &part in parts {
        let range = content_range(part, whole);
        let head = format!("{before}--{boundary}\r\ncontent-type: {media_type}\r\ncontent-range: {range}\r\n\r\n");
        segments.push(Segment::Bytes(head.into_bytes()));
        segments.push(Segment::Part(part));
        before = "\r\n";
    }
    segments.push(Segment::Bytes(format!("\r\n--{boundary}--\r\n").into_bytes()));
    segments
}

/// The Content-Range of a part.
pub(crate) fn content_range(part: Part, whole: u64) -> String {
    format!("bytes {}-{}/{whole}", part.first, part.last)
}
