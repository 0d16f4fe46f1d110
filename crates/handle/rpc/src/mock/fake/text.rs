//! Texts: words that fit the name of a field, and what constraints ask for.

use super::{Draws, SIZE_MAX, WORDS, pattern};
use crate::validate::Constraints;

const NAMES: [&str; 8] = ["Ada", "Chen", "Grace", "Imani", "Kofi", "Lena", "Omar", "Priya"];
const CITIES: [&str; 6] = ["Accra", "Dublin", "Kyoto", "Lima", "Oslo", "Riga"];
/// The digits of a ULID (Crockford's Base32).
const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID_LENGTH: usize = 26;

/// A text for a field of this name.
pub(super) fn made(name: &str, rules: &Constraints, draws: &mut Draws) -> String {
    if let Some(pattern) = &rules.pattern {
        let sizes = (rules.size_min.unwrap_or(0), rules.size_max.unwrap_or(SIZE_MAX));
        let ends = |text: &str| {
            text.starts_with(rules.prefix.as_deref().unwrap_or_default())
                && text.ends_with(rules.suffix.as_deref().unwrap_or_default())
                && text.contains(rules.contains.as_deref().unwrap_or_default())
        };
        // Where it asks for more than the pattern, chance alone helps, or what is made without it.
        if let Some(text) = (0..8).filter_map(|_| pattern::text(pattern, sizes, draws)).find(|text| ends(text)) {
            return text;
        }
    }
    let base = match &rules.format {
        Some(format) => of_format(&format.0, draws).unwrap_or_else(|| of_name(name, draws)),
        None => of_name(name, draws),
    };
    let ends = [&rules.prefix, &rules.suffix].map(|end| end.as_deref().unwrap_or_default());
    let part = rules.contains.as_deref().filter(|part| !ends.iter().any(|end| end.contains(part))).unwrap_or_default();
    let size = |text: &str| text.chars().count() as u64;
    let around = ends.iter().map(|end| size(end)).sum::<u64>() + size(part);
    let most = usize::try_from(rules.size_max.unwrap_or(u64::MAX).saturating_sub(around)).unwrap_or(usize::MAX);
    let mut text: String = base.chars().take(most).collect();
    let least = rules.size_min.unwrap_or(0).min(SIZE_MAX).saturating_sub(around);
    while size(&text) < least {
        text.push('x');
    }
    [ends[0], &text, part, ends[1]].concat()
}

/// One of a well-known format, by the name of its rule.
fn of_format(format: &str, draws: &mut Draws) -> Option<String> {
    let word = word(draws);
    Some(match format {
        "uuid" | "tuuid" => uuid(format == "tuuid", draws),
        "ulid" => {
            // The first digit has three bits.
            let mut digit = |most| char::from(CROCKFORD.get(draws.index(most)).copied().unwrap_or(b'0'));
            (0..ULID_LENGTH).map(|at| digit(if at == 0 { 8 } else { 32 })).collect()
        }
        "email" => format!("{word}{}@example.com", draws.between(100, 999)),
        "hostname" | "address" => format!("{word}.example.com"),
        "host_and_port" => format!("{word}.example.com:443"),
        "ip" | "ipv4" => format!("192.0.2.{}", draws.between(1, 254)),
        "ipv6" => format!("2001:db8::{:x}", draws.between(1, 65_535)),
        "ip_with_prefixlen" | "ipv4_with_prefixlen" => format!("192.0.2.{}/24", draws.between(1, 254)),
        "ipv6_with_prefixlen" => format!("2001:db8::{:x}/64", draws.between(1, 65_535)),
        "ip_prefix" | "ipv4_prefix" => format!("10.{}.0.0/16", draws.between(0, 255)),
        "ipv6_prefix" => format!("2001:db8:{:x}::/48", draws.between(1, 65_535)),
        "uri" | "uri_ref" => format!("https://example.com/{word}"),
        "header_name" => format!("x-{word}"),
        "header_value" => word.to_owned(),
        _ => return None,
    })
}

fn of_name(name: &str, draws: &mut Draws) -> String {
    let lower = name.to_ascii_lowercase();
    let is = |part: &str| lower.contains(part);
    let word = word(draws);
    let number = draws.between(100, 999);
    match () {
        () if is("email") => format!("{word}{number}@example.com"),
        () if is("uuid") || is("guid") => uuid(false, draws),
        () if lower == "id" || lower.ends_with("_id") => format!("{word}-{number}"),
        () if is("url") || is("uri") || is("link") => format!("https://example.com/{word}"),
        () if is("phone") => format!("+1555{:07}", draws.between(0, 9_999_999)),
        () if is("city") => CITIES.get(draws.index(CITIES.len())).copied().unwrap_or_default().to_owned(),
        () if is("currency") => "EUR".to_owned(),
        () if is("country") => "NO".to_owned(),
        () if is("name") => NAMES.get(draws.index(NAMES.len())).copied().unwrap_or_default().to_owned(),
        () => word.to_owned(),
    }
}

fn word(draws: &mut Draws) -> &'static str {
    WORDS.get(draws.index(WORDS.len())).copied().unwrap_or_default()
}

/// RFC 9562 section 5.4.
fn uuid(is_trimmed: bool, draws: &mut Draws) -> String {
    let (high, low) = (draws.wide(), draws.wide());
    let high = high & 0xffff_ffff_ffff_0fff | 0x4000;
    let low = low & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000;
    let whole = format!("{high:016x}{low:016x}");
    let part = |from: usize, to: usize| whole.get(from..to).unwrap_or_default();
    if is_trimmed {
        return whole.clone();
    }
    format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}
