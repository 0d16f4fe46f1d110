//! Addresses of IP and their prefixes.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Which version an address must be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Either.
    Any,
    /// Four numbers.
    V4,
    /// Eight groups, shortened or not, with a zone if there is one.
    V6,
}

impl Version {
    /// By number; 0 is either. Others are none.
    pub fn of(number: i64) -> Option<Version> {
        match number {
            0 => Some(Version::Any),
            4 => Some(Version::V4),
            6 => Some(Version::V6),
            _ => None,
        }
    }
}

/// Whether the text is an address.
pub fn is_ip(text: &str, version: Version) -> bool {
    match version {
        Version::V4 => text.parse::<Ipv4Addr>().is_ok(),
        Version::V6 => v6_with_zone(text),
        Version::Any => text.parse::<Ipv4Addr>().is_ok() || v6_with_zone(text),
    }
}

/// RFC 4007, section 11: a zone is any text behind `%`.
fn v6_with_zone(text: &str) -> bool {
    match text.split_once('%') {
        Some((address, zone)) => !zone.is_empty() && !zone.contains('\0') && address.parse::<Ipv6Addr>().is_ok(),
        None => text.parse::<Ipv6Addr>().is_ok(),
    }
}

/// Whether the text is an address, a slash and the length of a prefix; `strict`: with no bit set behind the prefix.
pub fn is_ip_prefix(text: &str, version: Version, strict: bool) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let digits = (1..=3).contains(&length.len()) && length.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || length.len() > 1 && length.starts_with('0') {
        return false;
    }
    let Ok(length) = length.parse::<u32>() else { return false };
    if version != Version::V6
        && let Ok(address) = address.parse::<Ipv4Addr>()
    {
        let behind = u32::MAX.checked_shr(length).unwrap_or(0);
        return length <= 32 && (!strict || address.to_bits() & behind == 0);
    }
    if version != Version::V4
        && let Ok(address) = address.parse::<Ipv6Addr>()
    {
        let behind = u128::MAX.checked_shr(length).unwrap_or(0);
        return length <= 128 && (!strict || address.to_bits() & behind == 0);
    }
    false
}
