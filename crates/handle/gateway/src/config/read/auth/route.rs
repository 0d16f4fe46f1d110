use super::Schemes;
use super::jwt::read_claim;
use crate::config::auth::RouteAuth;
use crate::config::table::{Group, Key, Kind, Open, Section, Text, nearest};

const NAME: Kind = Kind::Text { what: "the name of a scheme", example: "users" };
const VALUE: Kind = Kind::Text { what: "a value", example: "admin" };

pub(in crate::config::read) static ROUTE_AUTH: Section = Section::new(
    "route_auth",
    "the `auth` section of a route",
    "Which schemes must know the client. A list stands for `any`.",
    &[
        Key::optional(
            "any",
            Kind::List { of: &NAME, one: true },
            "One of these must know the client; they are asked in this order.",
        ),
        Key::optional("all", Kind::List { of: &NAME, one: true }, "Each of these must know the client. Where two tell the upstream the same field, the one that stands first here and has a value for it does."),
        Key::optional(
            "claims",
            Kind::Map { key: "claims", of: &Kind::List { of: &VALUE, one: true } },
            "Claims that the client's token must have, each with one of these values (403 otherwise): `role: [admin, editor]`, `scope: orders:read`.",
        )
        .aka(&["require", "scopes", "roles"]),
    ],
)
.shorthand("any")
.groups(&[Group { keys: &["any", "all"], required: true }]);

/// Reads which schemes a route asks. `None` where something is wrong.
pub(in crate::config::read) fn read_route_auth(open: &Open<'_>, schemes: &mut Schemes) -> Option<RouteAuth> {
    let all = open.place_of("all").is_some();
    let (any_texts, all_texts) = (open.texts("any"), open.texts("all"));
    for name in ["any", "all"] {
        if let Some(place) = open.empty_list(name) {
            open.reader.problem_help(place, format!("`{name}` is empty"), "name a scheme, or leave `auth` out");
        }
    }
    let texts = if all { all_texts } else { any_texts };
    let named: Vec<Option<usize>> = texts.iter().map(|text| find(open, schemes, *text)).collect();
    let mut claims = Vec::new();
    for (pair, values) in open.text_pairs("claims") {
        if values.is_empty() {
            open.reader.problem_help(pair.place, "a claim without a value", "write the values that will do");
        }
        let claim = read_claim(open.reader, Text { value: &pair.key, place: pair.place });
        claims.extend(claim.map(|claim| (claim, values.iter().map(|text| text.value.into()).collect())));
    }
    let named: Vec<usize> = named.into_iter().collect::<Option<_>>()?;
    if let Some(place) = open.place_of("claims")
        && !named.iter().any(|index| schemes.is_jwt(*index))
    {
        open.reader.problem_help(
            place,
            "`claims` without a scheme that has any: nobody would be let in",
            "name a scheme with `jwt`, or leave `claims` out",
        );
    }
    (!named.is_empty()).then_some(RouteAuth { schemes: named, all, claims })
}

fn find(open: &Open<'_>, schemes: &mut Schemes, text: Text<'_>) -> Option<usize> {
    if let Some(index) = schemes.find(text.value) {
        return Some(index);
    }
    let help = match nearest(text.value, schemes.names()) {
        Some(name) => format!("write `{name}`"),
        None => format!("add `auth: {{ {}: … }}` beside `routes`", text.value.escape_debug()),
    };
    open.reader.problem_help(text.place, format!("unknown scheme `{}`", text.value.escape_debug()), help);
    None
}
