//! Templates, and what happens to a path on its way.

use leat_route::Path;

use super::regex_rewrite::read_regex_rewrite;
use crate::config::table::{Open, Reader, Text, nearest};
use crate::config::template::{Part, Rewrite, Template};

/// Names that every template knows besides the parameters of its path.
const KNOWN: [(&str, Part); 3] = [("path", Part::Path), ("query", Part::Query), ("host", Part::Host)];

/// Reads `strip_prefix`, `rewrite` and `rewrite_regex` of a route.
pub(super) fn read_rewrite(open: &Open<'_>, path: Option<&Path>) -> Rewrite {
    let strip = open.text("strip_prefix");
    let rewrite = open.text("rewrite");
    let regex = open.section_if("rewrite_regex").map(|section| read_regex_rewrite(&section));
    let Some(path) = path else { return Rewrite::Keep };
    if let Some(regex) = regex {
        return regex.map(|regex| Rewrite::Regex(Box::new(regex))).unwrap_or_default();
    }
    match (strip, rewrite) {
        (Some(text), _) => read_strip(open.reader, text, path),
        (None, Some(text)) => read_template_path(open.reader, text, path).unwrap_or_default(),
        (None, None) => Rewrite::Keep,
    }
}

fn read_strip(reader: &Reader, text: Text<'_>, path: &Path) -> Rewrite {
    let wanted = text.value.trim_end_matches('/');
    let (message, help) = if wanted.is_empty() {
        ("`strip_prefix` takes nothing off".to_owned(), "leave it out, or write for example `/api`".to_owned())
    } else if !wanted.starts_with('/') {
        ("`strip_prefix` does not start with `/`".to_owned(), format!("write `/{wanted}`"))
    } else {
        let segments = |text: &str| text.split('/').skip(1).map(str::to_owned).collect::<Vec<_>>();
        let (strip, whole) = (segments(wanted), segments(path.text().trim_end_matches('/')));
        if whole.starts_with(&strip) && !whole.is_empty() {
            return Rewrite::Strip { segments: strip.len() };
        }
        let matched = if whole.is_empty() { "any path" } else { path.text() };
        (
            format!("`strip_prefix: {wanted}` is not how the paths of this route start: it matches {matched}"),
            if whole.is_empty() {
                format!("add `prefix: {wanted}` to `match`")
            } else {
                format!("write `strip_prefix: {}`, or change `match`", path.text())
            },
        )
    };
    reader.problem_help(text.place, message, help);
    Rewrite::Keep
}

fn read_template_path(reader: &Reader, text: Text<'_>, path: &Path) -> Option<Rewrite> {
    let template = read_template(reader, text, path)?;
    let wrong = if !text.value.starts_with('/') && !text.value.starts_with("{path}") {
        Some(("`rewrite` does not start with `/`", "write a path, such as `/internal/{id}`"))
    } else if text.value.contains('#') {
        Some(("`rewrite` has a fragment (`#`)", "leave it out: servers never see fragments"))
    } else if text.value.split(['/', '?']).any(|segment| matches!(segment, "." | "..")) {
        Some(("`rewrite` has a `.` or `..` segment", "write the path that is meant"))
    } else {
        None
    };
    if let Some((message, help)) = wrong {
        reader.problem_help(text.place, message, help);
        return None;
    }
    let keep_query = !text.value.contains('?') && !text.value.contains("{query}");
    Some(Rewrite::Path { template, keep_query })
}

/// Reads the target of a redirect.
pub(super) fn read_target(reader: &Reader, text: Text<'_>, path: &Path) -> Option<Template> {
    let template = read_template(reader, text, path)?;
    let wrong = match text.value.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => check_authority(rest),
        _ if text.value.starts_with("//") => Some((
            "`to` starts with `//`, which names a host without a scheme",
            "write `https://…`, or a path with one slash",
        )),
        _ if text.value.starts_with('/') || text.value.starts_with("{path}") => None,
        _ => Some((
            "`to` is neither a URL nor a path",
            "write for example `https://example.org{path}{query}` or `/new/{id}`",
        )),
    };
    match wrong {
        Some((message, help)) => {
            reader.problem_help(text.place, message, help);
            None
        }
        None => Some(template),
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// What a client sends must not become part of the host it is sent to (an open redirect).
fn check_authority(rest: &str) -> Option<(&'static str, &'static str)> {
    let end = ["/", "?", "#", "{path}", "{query}"].iter().filter_map(|stop| rest.find(stop)).min();
    let authority = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    if authority.is_empty() {
        return Some(("`to` has no host after its scheme", "write for example `https://example.org{path}{query}`"));
    }
    let fixed = authority.strip_prefix("{host}").unwrap_or(authority);
    if fixed.contains('{') {
        return Some((
            "`to` makes a parameter part of the host: a client could choose where it is sent",
            "write the host out and put a `/` before the parameter",
        ));
    }
    if authority.contains('@') {
        return Some(("`to` has user information before its host", "leave it out"));
    }
    None
}

fn read_template(reader: &Reader, text: Text<'_>, path: &Path) -> Option<Template> {
    if let Some(wrong) = text.value.chars().find(|c| !c.is_ascii_graphic()) {
        reader.problem_help(
            text.place,
            format!("`{}` is not allowed in a URL", wrong.escape_default()),
            "write it percent-encoded, such as `%20` for a space",
        );
        return None;
    }
    let mut pieces = Vec::new();
    let mut rest = text.value;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            reader.problem_help(text.place, "a `{` that is not closed", "write a parameter as `{name}`");
            return None;
        };
        if !before.is_empty() {
            pieces.push(Part::Text(before.to_owned()));
        }
        pieces.push(variable(reader, text, name, path)?);
        rest = after;
    }
    if rest.contains('}') {
        reader.problem_help(text.place, "a `}` without `{`", "write a parameter as `{name}`");
        return None;
    }
    if !rest.is_empty() {
        pieces.push(Part::Text(rest.to_owned()));
    }
    if pieces.is_empty() {
        reader.problem_help(text.place, "the text is empty", "write for example `/new/{id}`");
        return None;
    }
    Some(Template { pieces })
}

fn variable(reader: &Reader, text: Text<'_>, name: &str, path: &Path) -> Option<Part> {
    if let Some(index) = path.names().position(|held| held == name) {
        return Some(Part::Param(index));
    }
    if let Some((_, part)) = KNOWN.iter().find(|(known, _)| *known == name) {
        return Some(part.clone());
    }
    let names = || path.names().chain(KNOWN.iter().map(|(known, _)| *known));
    let help = match nearest(name, names()) {
        Some(nearest) => format!("write `{{{nearest}}}`"),
        None => {
            let all: Vec<String> = names().map(|name| format!("`{{{name}}}`")).collect();
            format!("known here are {}", all.join(", "))
        }
    };
    reader.problem_help(text.place, format!("unknown parameter `{{{name}}}`"), help);
    None
}
