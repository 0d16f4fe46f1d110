use crate::config::observation::Share;
use crate::config::table::{Kind, Open};

pub(super) const SHARE: Kind = Kind::Text { what: "a share such as `10%` or `0.1%`", example: "1%" };

/// A share with at most four decimals.
pub(super) fn read_share(open: &Open<'_>, key: &str) -> Option<Share> {
    let text = open.text(key)?;
    let share = parse(text.value);
    if share.is_none() {
        open.reader.problem_help(
            text.place,
            format!("`{key}` takes a share from 0% to 100%, found `{}`", text.value.escape_debug()),
            "write for example `10%` or `0.1%`",
        );
    }
    share
}

fn parse(text: &str) -> Option<Share> {
    let percent = text.strip_suffix('%')?;
    let (whole, decimals) = percent.split_once('.').unwrap_or((percent, "0"));
    let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits(whole) || !are_digits(decimals) || whole.len() > 3 || decimals.len() > 4 {
        return None;
    }
    let decimals: u32 = format!("{decimals:0<4}").parse().ok()?;
    let millionths = whole.parse::<u32>().ok()? * 10_000 + decimals;
    (millionths <= Share::ALL.0).then_some(Share(millionths))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_exact() {
        for (text, millionths) in [
            ("0%", Some(0)),
            ("100%", Some(1_000_000)),
            ("1%", Some(10_000)),
            ("0.1%", Some(1_000)),
            ("0.0001%", Some(1)),
            ("33.3333%", Some(333_333)),
            ("100.0001%", None),
            ("101%", None),
            ("1", None),
            ("", None),
            ("%", None),
            (".5%", None),
            ("5.%", None),
            ("-1%", None),
            ("1e1%", None),
            ("0.00001%", None),
        ] {
            assert_eq!(parse(text).map(Share::per_million), millionths, "{text}");
        }
    }
}
