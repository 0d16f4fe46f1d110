use crate::config::regex_rewrite::{GROUPS_MAX, PATTERN_BYTES_MAX, RegexPart, RegexRewrite, has_dots};
use crate::config::table::{Key, Kind, Open, Section, Text};

pub(super) static REWRITE_REGEX: Section = Section::new(
    "rewrite_regex",
    "the `rewrite_regex` section",
    "Replaces paths that a regular expression matches from their first byte to their last, as they arrived, not decoded. Other paths stay. A new path with a `.` or `..` segment is refused with 400, one of more than 16 KiB with 414. The expression knows no look-around and no back-references, and its time grows only with the path's length.",
    &[
        Key::required(
            "pattern",
            Kind::Text { what: "a regular expression", example: "/v([0-9]+)/(.*)" },
            "The expression, of at most 1 KiB.",
        )
        .aka(&["regex", "match", "from"]),
        Key::required(
            "to",
            Kind::Text { what: "a path", example: "/api/{2}?version={1}" },
            "The new path. `{1}` is what the first group matched, `{name}` what `(?<name>…)` did; 16 of them at most. The query stays unless the text has its own.",
        )
        .aka(&["substitution", "replacement"]),
    ],
);

pub(super) fn read_regex_rewrite(open: &Open<'_>) -> Option<RegexRewrite> {
    let (pattern, to) = (open.text("pattern"), open.text("to"));
    let (pattern, to) = (pattern?, to?);
    for (name, text) in [("pattern", pattern), ("to", to)] {
        if text.value.len() > PATTERN_BYTES_MAX {
            open.reader.problem_help(
                text.place,
                format!("`{name}` is longer than {PATTERN_BYTES_MAX} bytes"),
                "use several routes",
            );
            return None;
        }
    }
    let regex = match RegexRewrite::compile(pattern.value) {
        Ok(regex) => regex,
        Err(wrong) => {
            open.reader.problem_help(
                pattern.place,
                format!("`pattern` is not a regular expression: {wrong}"),
                "write for example `pattern: /v([0-9]+)/(.*)`",
            );
            return None;
        }
    };
    let names: Vec<Option<&str>> = regex.capture_names().collect();
    let parts = read_parts(open, to, &names)?;
    Some(RegexRewrite::new(regex, parts, !to.value.contains('?')))
}

fn read_parts(open: &Open<'_>, to: Text<'_>, names: &[Option<&str>]) -> Option<Vec<RegexPart>> {
    let refuse = |message: String, help: String| {
        open.reader.problem_help(to.place, message, help);
        None
    };
    if !to.value.starts_with('/') {
        return refuse("`to` does not start with `/`".to_owned(), "write for example `/api/{1}`".to_owned());
    }
    if let Some(wrong) = to.value.chars().find(|c| !c.is_ascii_graphic() || *c == '#') {
        return refuse(
            format!("`{}` is not allowed in a path", wrong.escape_default()),
            "write it percent-encoded, such as `%20` for a space".to_owned(),
        );
    }
    let mut parts = Vec::new();
    let mut rest = to.value;
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((name, after)) = behind.split_once('}') else {
            return refuse("a `{` that is not closed".to_owned(), "write a group as `{1}` or `{name}`".to_owned());
        };
        let group = match name.parse::<usize>() {
            Ok(number) => Some(number).filter(|number| *number < names.len()),
            Err(_) => names.iter().position(|known| *known == Some(name)),
        };
        let Some(group) = group else {
            let count = names.len().saturating_sub(1);
            return refuse(
                format!("`pattern` has no group `{{{}}}`", name.escape_debug()),
                format!("it has {count}: write `{{1}}` for the first, or name one with `(?<name>…)`"),
            );
        };
        if !before.is_empty() {
            parts.push(RegexPart::Text(before.to_owned()));
        }
        parts.push(RegexPart::Group(group));
        rest = after;
    }
    if rest.contains('}') {
        return refuse("a `}` without `{`".to_owned(), "write a group as `{1}` or `{name}`".to_owned());
    }
    if !rest.is_empty() {
        parts.push(RegexPart::Text(rest.to_owned()));
    }
    let with_groups = parts.iter().map(|part| match part {
        RegexPart::Text(text) => text.as_str(),
        RegexPart::Group(_) => "x",
    });
    if has_dots(with_groups.collect::<String>().split('?').next().unwrap_or_default().as_bytes()) {
        return refuse("`to` has a `.` or `..` segment".to_owned(), "write the path that is meant".to_owned());
    }
    if parts.iter().filter(|part| matches!(part, RegexPart::Group(_))).count() > GROUPS_MAX {
        return refuse(format!("more than {GROUPS_MAX} groups in `to`"), "name fewer of them".to_owned());
    }
    Some(parts)
}
