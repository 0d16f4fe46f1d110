//! Sizes and times as people write them.

/// Reads `32KiB`, `1MB`, `240B` or a bare number of bytes.
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
    number.checked_mul(factor)
}

/// Reads `250ms`, `60s`, `5m` or `1h` as milliseconds. A bare number says nothing about its unit and is not a time.
pub fn time_ms(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.checked_mul(factor)
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
    Some((number.parse().ok()?, unit.trim_start_matches(' ')))
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
            ("99999999999GiB", None),
        ] {
            assert_eq!(size(text), wanted, "{text}");
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
        ] {
            assert_eq!(time_ms(text), wanted, "{text}");
        }
        for text in ["250ms", "60s", "5m", "1h"] {
            assert_eq!(time_ms(&show_time(time_ms(text).unwrap())), time_ms(text));
        }
    }
}
