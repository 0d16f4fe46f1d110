use super::address::network;
use crate::config::access::Access;
use crate::config::table::{Key, Kind, Open, Section};

const NETWORK: Kind = Kind::Text { what: "a network", example: "10.0.0.0/8" };

pub(super) static ACCESS: Section = Section::new(
    "access",
    "the `access` section",
    "Who may use a route, by the client's address: that of the connection, or the one that trusted proxies tell (`forwarded`).",
    &[
        Key::optional(
            "allow",
            Kind::List { of: &NETWORK, one: true },
            "Networks of those who may; everybody else is answered with 403. Without it: everybody.",
        )
        .aka(&["permit", "whitelist"]),
        Key::optional(
            "deny",
            Kind::List { of: &NETWORK, one: true },
            "Networks of those who may not, also where `allow` names them.",
        )
        .aka(&["block", "blacklist"]),
    ],
);

pub(super) fn read_access(open: &Open<'_>) -> Option<Access> {
    let networks = |name: &str| {
        if let Some(place) = open.empty_list(name) {
            open.reader.problem_help(
                place,
                format!("`{name}` is empty"),
                format!("leave it out, or list networks: `{name}: [10.0.0.0/8]`"),
            );
        }
        open.texts(name).into_iter().filter_map(|text| network(open.reader, text)).collect::<Vec<_>>()
    };
    let (allow, deny) = (networks("allow"), networks("deny"));
    if open.place_of("allow").is_none() && open.place_of("deny").is_none() {
        open.reader.warn(open.place(), "`access` without `allow` and `deny` lets everybody in", "remove it");
    }
    (!allow.is_empty() || !deny.is_empty()).then_some(Access { allow, deny })
}
