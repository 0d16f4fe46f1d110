use leat_route::Path;

use super::rewrite;
use crate::config::action::Redirect;
use crate::config::table::{Key, Kind, Open, Section};

const STATUSES: &[(&str, &str)] = &[
    ("301", "for good; clients may turn POST into GET"),
    ("302", "for now; clients may turn POST into GET"),
    ("303", "for now, to be fetched with GET"),
    ("307", "for now, with the same method"),
    ("308", "for good, with the same method"),
];

pub(super) static REDIRECT: Section = Section::new(
    "redirect",
    "the `redirect` section",
    "Sends clients elsewhere.",
    &[
        Key::required(
            "to",
            Kind::Text { what: "a URL or a path", example: "https://example.org{path}{query}" },
            "A URL or a path. `{path}`, `{query}` (with its `?`, or `&` behind one), `{host}` and the parameters of the route's path are filled in; behind a `?` a parameter or a path is one value, whatever is in it.",
        )
        .aka(&["url", "location", "target"]),
        Key::default("status", Kind::Choice(STATUSES), "308", "The status.").aka(&["code"]),
    ],
)
.shorthand("to");

/// `path` is the route's; `None` if that is wrong already.
pub(super) fn read_redirect(open: &Open<'_>, path: Option<&Path>) -> Option<Redirect> {
    let to = open.text("to");
    let status = open.choice("status", &[("301", 301), ("302", 302), ("303", 303), ("307", 307), ("308", 308)]);
    let to = rewrite::read_target(open.reader, to?, path?)?;
    Some(Redirect { to, status: status? })
}
