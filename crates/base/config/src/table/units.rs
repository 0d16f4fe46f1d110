//! Sizes and times as people write them.

/// Reads `32KiB`, `1MB`, `240B` or a bare number of bytes. What is too much for 64 bits is the most that they hold.
pub fn size(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let factor = match unit {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TB" => 1_000_000_000_000,
        "TiB" => 1 << 40,
        _ => return None,
    };
    Some(number.saturating_mul(factor))
}

/// Reads `250ms`, `60s`, `5m` or `1h` as milliseconds. A bare number says nothing about its unit and is not a time. What is too much
/// for 64 bits is the most that they hold.
pub fn time_ms(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    Some(number.saturating_mul(factor))
}

/// What was meant by a size that is none: `16k`, `1.5MiB`.
pub fn meant_size(text: &str) -> Option<String> {
    let (thousandths, unit) = split_decimal(text)?;
    let (binary, decimal) = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => return None,
        "k" | "kib" | "kb" => ("KiB", "kB"),
        "m" | "mib" | "mb" => ("MiB", "MB"),
        "g" | "gib" | "gb" => ("GiB", "GB"),
        "t" | "tib" | "tb" => ("TiB", "TB"),
        _ => return None,
    };
    if thousandths.is_multiple_of(1_000) {
        let number = thousandths / 1_000;
        return Some(format!("write `{number}{binary}` or `{number}{decimal}`"));
    }
    let bytes = size(&format!("1{binary}"))?.checked_mul(thousandths)? / 1_000;
    Some(format!("write `{}`", show_size(bytes)))
}

/// What was meant by a time that is none: `5`, `1.5s`, `2 minutes`, `1d`, `1h30m`.
pub fn meant_time(text: &str) -> Option<String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(format!("say the unit: `{text}s` or `{text}ms`"));
    }
    let mut rest = text;
    let mut ms: u64 = 0;
    while !rest.is_empty() {
        let (thousandths, behind) = split_decimal(rest)?;
        let end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at_checked(end)?;
        let factor = match unit.to_ascii_lowercase().as_str() {
            "ms" | "msec" | "millis" | "milliseconds" => 1,
            "s" | "sec" | "secs" | "second" | "seconds" => 1_000,
            "m" | "min" | "mins" | "minute" | "minutes" => 60_000,
            "h" | "hr" | "hour" | "hours" => 3_600_000,
            "d" | "day" | "days" => 86_400_000,
            _ => return None,
        };
        ms = ms.checked_add(thousandths.checked_mul(factor)? / 1_000)?;
        rest = behind.trim_start_matches(' ');
    }
    (ms > 0).then(|| format!("write `{}`", show_time(ms)))
}

/// A number with up to three decimals, in thousandths, and what is behind it.
fn split_decimal(text: &str) -> Option<(u64, &str)> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(at)?;
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    if decimals.len() > 3 || decimals.contains('.') {
        return None;
    }
    let thousandths = whole.parse::<u64>().ok()?.checked_mul(1_000)?;
    let decimals = format!("{decimals:0<3}").parse::<u64>().ok()?;
    Some((thousandths.checked_add(decimals)?, unit.trim_start_matches(' ')))
}

/// Writes milliseconds in the largest unit that fits.
pub fn show_time(ms: u64) -> String {
    match ms {
        0 => "0ms".to_owned(),
        _ if ms.is_multiple_of(3_600_000) => format!("{}h", ms / 3_600_000),
        _ if ms.is_multiple_of(60_000) => format!("{}m", ms / 60_000),
        _ if ms.is_multiple_of(1_000) => format!("{}s", ms / 1_000),
        _ => format!("{ms}ms"),
    }
}

/// Writes bytes in the largest binary unit that fits.
pub fn show_size(bytes: u64) -> String {
    match bytes {
        0 => "0B".to_owned(),
        _ if bytes.is_multiple_of(1 << 40) => format!("{}TiB", bytes >> 40),
        _ if bytes.is_multiple_of(1 << 30) => format!("{}GiB", bytes >> 30),
        _ if bytes.is_multiple_of(1 << 20) => format!("{}MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{}KiB", bytes >> 10),
        _ => format!("{bytes}B"),
    }
}

fn split(text: &str) -> Option<(u64, &str)> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(at)?;
    if number.is_empty() {
        return None;
    }
    Some((number.parse().unwrap_or(u64::MAX), unit.trim_start_matches(' ')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        for (text, wanted) in [
            ("0", Some(0)),
            ("240", Some(240)),
            ("240B", Some(240)),
            ("32KiB", Some(32_768)),
            ("32 KiB", Some(32_768)),
            ("1MB", Some(1_000_000)),
            ("2GiB", Some(1 << 31)),
            ("", None),
            ("KiB", None),
            ("-1", None),
            ("1.5MB", None),
            ("1M", None),
            ("1kib", None),
            ("99999999999GiB", Some(u64::MAX)),
            ("99999999999999999999999", Some(u64::MAX)),
        ] {
            assert_eq!(size(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_was_meant_is_said_where_it_can_be_written() {
        for (text, wanted) in [
            ("16k", Some("write `16KiB` or `16kB`")),
            ("1kib", Some("write `1KiB` or `1kB`")),
            ("2t", Some("write `2TiB` or `2TB`")),
            ("1.5KiB", Some("write `1536B`")),
            ("0.5 GB", Some("write `512MiB`")),
            ("-1KiB", None),
            ("1e5", None),
            ("KiB", None),
            ("1.2.3MB", None),
        ] {
            assert_eq!(meant_size(text).as_deref(), wanted, "{text}");
        }
        for (text, wanted) in [
            ("5", Some("say the unit: `5s` or `5ms`")),
            ("1.5s", Some("write `1500ms`")),
            ("1h30m", Some("write `90m`")),
            ("1d", Some("write `24h`")),
            ("2 minutes", Some("write `2m`")),
            ("-1s", None),
            ("10us", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(meant_time(text).as_deref(), wanted, "{text}");
        }
    }

    #[test]
    fn times_have_a_unit() {
        for (text, wanted) in [
            ("250ms", Some(250)),
            ("60s", Some(60_000)),
            ("5m", Some(300_000)),
            ("1h", Some(3_600_000)),
            ("60", None),
            ("s", None),
            ("1d", None),
            ("-1s", None),
            ("99999999999999999999h", Some(u64::MAX)),
        ] {
            assert_eq!(time_ms(text), wanted, "{text}");
        }
        for text in ["250ms", "60s", "5m", "1h"] {
            assert_eq!(time_ms(&show_time(time_ms(text).unwrap())), time_ms(text));
        }
    }
}
