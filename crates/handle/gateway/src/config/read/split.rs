use super::upstream::Upstreams;
use crate::config::action::{Split, SplitWhen};
use crate::config::table::{Group, Key, Kind, Open, Section};

const NAME: Kind = Kind::Text { what: "a name", example: "x-canary" };

pub(super) static SPLIT: Section = Section::new(
    "split",
    "a `split`",
    "Requests that go to another upstream, such as a new version. The first of the list that takes a request gets it; those that none takes go to `upstream` of the section.",
    &[
        Key::required(
            "upstream",
            Kind::Text { what: "the name of an upstream, or a URL", example: "canary" },
            "Where its requests go.",
        )
        .aka(&["to", "url"]),
        Key::optional(
            "percent",
            Kind::Number { min: 0, max: 100 },
            "Takes this part of the requests that come to it, each by chance.",
        )
        .aka(&["weight"]),
        Key::optional("header", NAME, "Takes requests that have this header."),
        Key::optional("cookie", NAME, "Takes requests that have this cookie."),
        Key::optional(
            "value",
            Kind::Text { what: "a text", example: "always" },
            "What the header or the cookie must be, exactly. Without it: anything.",
        )
        .aka(&["equals", "is"]),
    ],
)
.groups(&[Group { keys: &["percent", "header", "cookie"], required: true }]);

pub(super) fn read_split(open: &Open<'_>, upstreams: &mut Upstreams) -> Option<Split> {
    let upstream = open.text("upstream").and_then(|text| upstreams.find(open.reader, text));
    let percent = open.number("percent");
    let (header, cookie, value) = (open.text("header"), open.text("cookie"), open.text("value"));
    for name in [header, cookie].into_iter().flatten() {
        // RFC 9110 section 5.6.2, RFC 6265 section 4.1.1: both are tokens.
        let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if name.value.is_empty() || !name.value.bytes().all(is_token) {
            open.reader.problem_help(
                name.place,
                format!("`{}` is not the name of a header or a cookie", name.value.escape_debug()),
                "write for example `header: x-canary`",
            );
            return None;
        }
    }
    let owned = value.map(|value| value.value.to_owned());
    let when = match (percent, header, cookie) {
        (Some(percent), ..) => {
            if let Some(value) = value {
                open.reader.warn(value.place, "`value` does nothing beside `percent`", "remove it, or use `header`");
            }
            SplitWhen::Percent(percent as u32)
        }
        (None, Some(name), _) => SplitWhen::Header { name: name.value.to_ascii_lowercase(), value: owned },
        (None, None, Some(name)) => SplitWhen::Cookie { name: name.value.to_owned(), value: owned },
        // Reported when the section was opened.
        (None, None, None) => return None,
    };
    Some(Split { upstream: upstream?, when })
}
