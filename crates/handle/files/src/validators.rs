use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;

use crate::Coding;

/// How long after a change a file's tag is weak: within it the file could change again without a new modification time
/// (RFC 9110 section 8.8.2.2; the clock of file systems moves in steps of some milliseconds, of some in steps of 2 s).
const SETTLED_S: i64 = 3;
/// The first second of the year 10000, which an HTTP date cannot say.
const DATE_END_S: i64 = 253_402_300_800;

/// What identifies one state of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified_s: i64,
    modified_ns: i64,
    /// Length, inode and device, so that a file that was replaced keeps its tag only by being the same.
    identity: [u64; 3],
}

impl Stamp {
    #[expect(clippy::unnecessary_cast, reason = "the fields have other types on other architectures")]
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            modified_s: stat.st_mtime as i64,
            modified_ns: stat.st_mtime_nsec as i64,
            identity: [stat.st_size as u64, stat.st_ino as u64, stat.st_dev as u64],
        }
    }
}

/// The validators of a representation (RFC 9110 section 8.8).
///
/// The tag is a hash of modification time (to the nanosecond), length, inode and device. The inode is in it because
/// deployments that set all times to one value are common, and a stale page is worse than a missed cache; a hash,
/// since inode numbers are nobody's business. It is strong once the file has been left alone for [`SETTLED_S`] seconds
/// (range requests and `If-Match` need that), weak before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Validators {
    pub(crate) etag: Tag,
    /// Seconds since 1970; `None` where an HTTP date cannot say it.
    pub(crate) modified_s: Option<u64>,
    /// Whether the date may stand for exactly these bytes.
    is_date_strong: bool,
}

/// What a tag that is weak begins with.
const WEAK: &[u8] = b"W/";
/// The digits of a hash.
const HASH_BYTES: usize = 16;
/// The longest tag: weak, in its quotes, with the longest coding behind its hash.
const TAG_BYTES: usize = WEAK.len() + 1 + HASH_BYTES + "-gzip".len() + 1;

/// An entity tag, written out in place: each request has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    is_weak: bool,
    /// As a weak one.
    text: [u8; TAG_BYTES],
    length: usize,
}

impl Tag {
    fn new(is_weak: bool, hash: u64, coding: Option<Coding>) -> Self {
        let mut tag = Self { is_weak, text: [0; TAG_BYTES], length: 0 };
        tag.push(WEAK);
        tag.push(b"\"");
        tag.push(&digits(hash));
        if let Some(coding) = coding {
            tag.push(b"-");
            tag.push(coding.name().as_bytes());
        }
        tag.push(b"\"");
        tag
    }

    fn push(&mut self, bytes: &[u8]) {
        if let Some(room) = self.text.get_mut(self.length..self.length + bytes.len()) {
            room.copy_from_slice(bytes);
            self.length += bytes.len();
        }
    }

    /// As a field has it.
    fn value(&self) -> &[u8] {
        let start = if self.is_weak { 0 } else { WEAK.len() };
        self.text.get(start..self.length).unwrap_or_default()
    }

    /// Without the quotes.
    fn opaque(&self) -> &[u8] {
        self.text.get(WEAK.len() + 1..self.length.saturating_sub(1)).unwrap_or_default()
    }
}

/// All sixteen of them, in hexadecimal.
fn digits(hash: u64) -> [u8; HASH_BYTES] {
    let mut digits = [0; HASH_BYTES];
    for (at, digit) in digits.iter_mut().rev().enumerate() {
        let value = (hash >> (4 * at)) as u8 & 0xf;
        *digit = if value < 10 { b'0' + value } else { b'a' + value - 10 };
    }
    digits
}

impl Validators {
    pub(crate) fn new(stamp: Stamp, coding: Option<Coding>, now: SystemTime) -> Self {
        let now_s = now.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs().cast_signed());
        let is_settled = stamp.modified_s.saturating_add(SETTLED_S) < now_s;
        let [length, inode, device] = stamp.identity;
        let time = [stamp.modified_s.cast_unsigned(), stamp.modified_ns.cast_unsigned()];
        let hash = time.into_iter().chain([length, inode, device]).fold(0, mix);
        let etag = Tag::new(!is_settled, hash, coding);
        // A date from the future would make every later change look old (section 8.8.2.1).
        let modified_s = u64::try_from(stamp.modified_s.min(now_s)).ok().filter(|_| stamp.modified_s > 0);
        let modified_s = modified_s.filter(|&s| s < DATE_END_S.cast_unsigned());
        Self { etag, modified_s, is_date_strong: is_settled }
    }

    /// The ETag field's value.
    pub(crate) fn etag_value(&self) -> &[u8] {
        self.etag.value()
    }

    /// The Last-Modified field's value.
    pub(crate) fn last_modified_value(&self) -> Option<String> {
        Some(httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(self.modified_s?)))
    }

    /// Whether one of the tags in `lines` (or `*`) names this representation. Where a list is malformed, what follows
    /// the mistake is not looked at.
    pub(crate) fn is_listed<'a>(&self, lines: impl Iterator<Item = &'a [u8]>, comparison: Comparison) -> bool {
        let mut lines = lines;
        lines.any(|line| line.trim_ascii() == b"*" || Tags(line).any(|tag| self.matches(tag, comparison)))
    }

    /// Whether a range of what the client has fits this representation (If-Range, section 13.1.5).
    pub(crate) fn fits_range(&self, value: &[u8]) -> bool {
        let value = value.trim_ascii();
        if value.contains(&b'"') {
            let mut tags = Tags(value);
            let is_same = tags.next().is_some_and(|tag| self.matches(tag, Comparison::Strong));
            return is_same && tags.next().is_none();
        }
        self.is_date_strong && self.modified_s.is_some() && parse_date(value) == self.modified_s
    }

    fn matches(&self, (is_weak, opaque): (bool, &[u8]), comparison: Comparison) -> bool {
        let is_comparable = comparison == Comparison::Weak || !(is_weak || self.etag.is_weak);
        is_comparable && opaque == self.etag.opaque()
    }
}

/// How tags are compared (RFC 9110 section 8.8.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// Both must be strong.
    Strong,
    /// Weakness does not matter.
    Weak,
}

/// Iterates over a list of entity tags as (weak, opaque); ends at the first malformed one.
struct Tags<'a>(&'a [u8]);

impl<'a> Iterator for Tags<'a> {
    type Item = (bool, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.0.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b','))?;
        let text = self.0.get(start..)?;
        let (is_weak, text) = text.strip_prefix(b"W/").map_or((false, text), |strong| (true, strong));
        let text = text.strip_prefix(b"\"")?;
        let end = text.iter().position(|&byte| byte == b'"')?;
        let (opaque, rest) = text.split_at_checked(end)?;
        self.0 = rest.get(1..).unwrap_or_default();
        Some((is_weak, opaque))
    }
}

/// Seconds since 1970 of an HTTP date in any of its three forms; `None` for anything else, which makes the field void.
pub(crate) fn parse_date(value: &[u8]) -> Option<u64> {
    let date = httpdate::parse_http_date(std::str::from_utf8(value).ok()?.trim_ascii()).ok()?;
    Some(date.duration_since(UNIX_EPOCH).ok()?.as_secs())
}

/// One step of splitmix64 (Steele, Lea and Flood, 2014) over what came before and `word`.
fn mix(hash: u64, word: u64) -> u64 {
    let mut z = (hash ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_S: i64 = 1_800_000_000;

    fn stamp(modified_s: i64) -> Stamp {
        Stamp { modified_s, modified_ns: 5, identity: [10, 20, 30] }
    }

    fn text_of(tag: &[u8]) -> String {
        String::from_utf8(tag.to_vec()).unwrap()
    }

    fn validators(stamp: Stamp) -> Validators {
        Validators::new(stamp, None, UNIX_EPOCH + Duration::from_secs(NOW_S as u64))
    }

    #[test]
    fn a_tag_changes_with_everything_that_identifies_a_file() {
        let base = stamp(1_000);
        let mut tags = vec![validators(base).etag, Validators::new(base, Some(Coding::Br), SystemTime::now()).etag];
        tags.push(validators(Stamp { modified_s: 1_001, ..base }).etag);
        tags.push(validators(Stamp { modified_ns: 6, ..base }).etag);
        for i in 0..3 {
            let mut other = base;
            other.identity[i] += 1;
            tags.push(validators(other).etag);
        }
        for (i, tag) in tags.iter().enumerate() {
            assert!(!tags[..i].contains(tag), "{tag:?}");
        }
        assert_eq!(validators(base), validators(base));
    }

    #[test]
    fn a_fresh_file_has_a_weak_tag_and_an_old_one_a_strong_one_with_the_same_opaque_part() {
        for (age_s, is_weak) in [(-10, true), (0, true), (3, true), (4, false), (1_000, false)] {
            let value = text_of(validators(stamp(NOW_S - age_s)).etag_value());
            assert_eq!(value.starts_with("W/\""), is_weak, "{age_s}");
        }
    }

    #[test]
    fn a_tag_has_all_digits_of_its_hash_and_the_coding_behind_it() {
        for (hash, coding, weak) in [
            (0, None, r#"W/"0000000000000000""#),
            (0x0123_4567_89ab_cdef, Some(Coding::Br), r#"W/"0123456789abcdef-br""#),
            (u64::MAX, Some(Coding::Gzip), r#"W/"ffffffffffffffff-gzip""#),
            (1, Some(Coding::Zstd), r#"W/"0000000000000001-zstd""#),
        ] {
            let strong = weak.trim_start_matches("W/");
            assert_eq!(text_of(Tag::new(true, hash, coding).value()), weak);
            assert_eq!(text_of(Tag::new(false, hash, coding).value()), strong);
            assert_eq!(text_of(Tag::new(true, hash, coding).opaque()), strong.trim_matches('"'));
        }
    }

    #[test]
    fn dates_that_http_cannot_say_are_left_out_and_future_ones_are_now() {
        for (modified_s, date) in [
            (784_111_777, Some("Sun, 06 Nov 1994 08:49:37 GMT")),
            (NOW_S + 1_000, Some("Fri, 15 Jan 2027 08:00:00 GMT")),
            (i64::MAX, Some("Fri, 15 Jan 2027 08:00:00 GMT")),
            (0, None),
            (-1, None),
            (i64::MIN, None),
        ] {
            assert_eq!(validators(stamp(modified_s)).last_modified_value().as_deref(), date, "{modified_s}");
        }
    }

    #[test]
    fn tags_are_found_in_lists() {
        let mine = validators(stamp(1_000));
        let tag = text_of(mine.etag_value());
        for (list, strong, weak) in [
            ("*".to_owned(), true, true),
            (tag.clone(), true, true),
            (format!("W/{tag}"), false, true),
            (format!("\"a\", {tag}"), true, true),
            (format!("\"a,b\" ,, {tag} , \"c\""), true, true),
            (format!("W/\"a\",{tag}"), true, true),
            ("\"other\"".into(), false, false),
            (format!("broken, {tag}"), false, false),
            (format!("\"unclosed {tag}"), false, false),
            (tag.trim_matches('"').to_owned(), false, false),
            (format!("w/{tag}"), false, false),
            (String::new(), false, false),
        ] {
            let lines = || [list.as_bytes()].into_iter();
            assert_eq!(mine.is_listed(lines(), Comparison::Strong), strong, "{list}");
            assert_eq!(mine.is_listed(lines(), Comparison::Weak), weak, "{list}");
        }
        assert!(mine.is_listed([&b"\"a\""[..], tag.as_bytes()].into_iter(), Comparison::Strong));
    }
}
