use leat_message::{Length, Profile, Reason, Version};

use crate::class::TOKEN;
use crate::connection::members;
use crate::fields::{Kind, Seen};

/// What Content-Length and Transfer-Encoding say together (RFC 9112 section 6.3): `None` where both are absent.
#[inline(always)]
pub(crate) fn announced(bytes: &[u8], seen: &Seen, version: Version, profile: Profile) -> Result<Length, Reason> {
    if seen.count(Kind::Length) == 0 && seen.count(Kind::Coding) == 0 {
        return Ok(Length::None);
    }
    present(bytes, seen, version, profile)
}

#[inline(never)]
fn present(bytes: &[u8], seen: &Seen, version: Version, profile: Profile) -> Result<Length, Reason> {
    if seen.count(Kind::Coding) > 0 {
        if seen.count(Kind::Length) > 0 {
            return Err(Reason::BodyLengthConflict);
        }
        if version == Version::Http10 {
            return Err(Reason::BodyCodingHttp10);
        }
        return coding(bytes, seen).map(|()| Length::Stream);
    }
    if seen.count(Kind::Length) > 1 {
        return Err(Reason::BodyLengthRepeated);
    }
    content_length(seen.value(Kind::Length).of(bytes), profile).map(Length::Known)
}

/// Reads a Content-Length (RFC 9110 section 8.6): digits and nothing else, one number.
pub(crate) fn content_length(value: &[u8], profile: Profile) -> Result<u64, Reason> {
    if value.is_empty() {
        return Err(Reason::BodyLengthInvalid);
    }
    let mut number = 0u64;
    for &byte in value {
        if !byte.is_ascii_digit() {
            return Err(not_a_number(value));
        }
        number = match number {
            0..SAFE => number * 10 + u64::from(byte - b'0'),
            _ => larger(number, byte)?,
        };
    }
    // Legal, but some read a leading zero as octal.
    if profile == Profile::Strict && value.len() > 1 && value.first() == Some(&b'0') {
        return Err(Reason::BodyLengthInvalid);
    }
    Ok(number)
}

/// Below this one more digit fits for sure.
const SAFE: u64 = i64::MAX as u64 / 10;

/// Adds a digit to a number that may become too large. Others keep lengths in signed integers, so those set the limit.
#[cold]
fn larger(number: u64, digit: u8) -> Result<u64, Reason> {
    number
        .checked_mul(10)
        .and_then(|n| n.checked_add(u64::from(digit - b'0')))
        .filter(|&n| i64::try_from(n).is_ok())
        .ok_or(Reason::BodyLengthOverflow)
}

#[cold]
fn not_a_number(value: &[u8]) -> Reason {
    let is_list = members(value).all(|member| !member.is_empty() && member.iter().all(u8::is_ascii_digit));
    if is_list { Reason::BodyLengthRepeated } else { Reason::BodyLengthInvalid }
}

/// Accepts `chunked` alone, once. Codings before a final `chunked` are legal and not understood (RFC 9112 section 6.1:
/// 501); every other form is a way to make two readers disagree.
fn coding(bytes: &[u8], seen: &Seen) -> Result<(), Reason> {
    let value = seen.value(Kind::Coding).of(bytes);
    if seen.count(Kind::Coding) > 1 {
        return Err(Reason::BodyCodingInvalid);
    }
    if value.eq_ignore_ascii_case(b"chunked") {
        return Ok(());
    }
    let mut last_is_chunked = false;
    for member in members(value) {
        if last_is_chunked || member.is_empty() || !TOKEN.all(member) {
            return Err(Reason::BodyCodingInvalid);
        }
        last_is_chunked = member.eq_ignore_ascii_case(b"chunked");
    }
    Err(if last_is_chunked { Reason::BodyCodingUnknown } else { Reason::BodyCodingInvalid })
}
