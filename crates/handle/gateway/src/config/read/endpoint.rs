use std::net::{IpAddr, SocketAddr};

use leat_route::Host;

use super::address;
use crate::config::table::{Key, Kind, Open, Reader, Section, Text, nearest};
use crate::config::upstream::{Endpoint, EndpointAddress, Protocol};

pub(super) static ENDPOINT: Section = Section::new(
    "endpoint",
    "an endpoint",
    "One server of an upstream.",
    &[
        Key::required(
            "url",
            Kind::Text { what: "a URL", example: "http://127.0.0.1:3000" },
            "`http://host:port` (HTTP/1.1), `h2c://…` (HTTP/2 without TLS), `https://…` (HTTP/1.1 over TLS), `h2://…` (HTTP/2 over TLS), `unix:/path` or `h2c+unix:/path`. Names are resolved again when their DNS records expire.",
        )
        .aka(&["address", "host", "server"]),
        Key::default(
            "weight",
            Kind::Number { min: 1, max: 1_000 },
            "1",
            "Its share of the requests relative to the other endpoints.",
        ),
        Key::default(
            "priority",
            Kind::Number { min: 0, max: 9 },
            "0",
            "Its tier, such as 0 for the same zone and 1 for another one. A tier gets what those before it can't carry: one of which less than five in seven are well.",
        )
        .aka(&["backup", "zone", "tier"]),
    ],
)
.shorthand("url");

/// Schemes: what to speak, and whether over TLS.
const SCHEMES: [(&str, Protocol, bool); 4] = [
    ("http", Protocol::Http1, false),
    ("https", Protocol::Http1, true),
    ("h2c", Protocol::Http2, false),
    ("h2", Protocol::Http2, true),
];

pub(super) fn read_endpoint(open: &Open<'_>) -> Option<Endpoint> {
    let text = open.text("url");
    let weight = open.number("weight").unwrap_or(1) as u32;
    let priority = open.number("priority").unwrap_or(0) as u8;
    let endpoint = parse(open.reader, text?)?;
    Some(Endpoint { weight, priority, ..endpoint })
}

/// Whether this is the URL of an endpoint rather than the name of an upstream.
pub(super) fn is_url(text: &str) -> bool {
    text.contains("://") || text.starts_with("unix:") || text.starts_with("h2c+unix:")
}

/// Reads the URL of an endpoint.
pub(super) fn parse(reader: &Reader, text: Text<'_>) -> Option<Endpoint> {
    for (scheme, protocol) in [("unix:", Protocol::Http1), ("h2c+unix:", Protocol::Http2)] {
        if let Some(path) = text.value.strip_prefix(scheme) {
            let path = address::unix(reader, Text { value: path, ..text })?;
            return Some(endpoint(text, EndpointAddress::Unix(path), protocol, false));
        }
    }
    let shown = text.value.escape_debug();
    let Some((scheme, rest)) = text.value.split_once("://") else {
        let (message, help) = (format!("the endpoint `{shown}` has no scheme"), format!("write `http://{shown}`"));
        reader.problem_help(text.place, message, help);
        return None;
    };
    let Some((_, protocol, tls)) = SCHEMES.iter().find(|(known, ..)| *known == scheme) else {
        reader.problem_help(
            text.place,
            format!("unknown scheme `{}` of an endpoint", scheme.escape_debug()),
            scheme_help(scheme),
        );
        return None;
    };
    if rest.contains('@') {
        // Not shown: it holds a password.
        reader.problem_help(
            text.place,
            "the endpoint has user information in its URL",
            "leave it out; credentials go to `request_headers`, as `authorization`",
        );
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if !matches!(rest.get(authority.len()..), Some("" | "/")) {
        reader.problem_help(
            text.place,
            format!("the endpoint `{shown}` has a path"),
            format!(
                "write `{scheme}://{}`; paths are changed by `rewrite` or `strip_prefix` in the route",
                authority.escape_debug()
            ),
        );
        return None;
    }
    let address = read_authority(reader, text, authority, if *tls { 443 } else { 80 })?;
    Some(endpoint(text, address, *protocol, *tls))
}

fn endpoint(text: Text<'_>, address: EndpointAddress, protocol: Protocol, tls: bool) -> Endpoint {
    Endpoint {
        url: text.value.trim_end_matches('/').to_owned(),
        address,
        protocol,
        tls,
        weight: 1,
        priority: 0,
        place: text.place,
    }
}

fn read_authority(reader: &Reader, text: Text<'_>, authority: &str, default: u16) -> Option<EndpointAddress> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let port = match port.map(str::parse::<u16>) {
        None => default,
        Some(Ok(port)) if port > 0 => port,
        Some(_) => {
            reader.problem_help(
                text.place,
                format!("the endpoint `{}` has a port that is not a number from 1 to 65535", text.value.escape_debug()),
                format!("write for example `{}:3000` after the scheme", host.escape_debug()),
            );
            return None;
        }
    };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    if let Ok(ip) = bare.unwrap_or(host).parse::<IpAddr>()
        && ip.is_ipv6() == bare.is_some()
    {
        return Some(EndpointAddress::Ip(SocketAddr::new(ip, port)));
    }
    match Host::parse(host) {
        Ok(Host::Exact(host)) if !host.starts_with('[') => Some(EndpointAddress::Name { host, port }),
        parsed => {
            let why = match parsed {
                Err(error) => error.to_string(),
                Ok(_) => "a name or an IP address is needed".to_owned(),
            };
            reader.problem_help(
                text.place,
                format!("the endpoint `{}` has no usable host: {why}", text.value.escape_debug()),
                "write for example `http://127.0.0.1:3000` or `http://app.internal:3000`",
            );
            None
        }
    }
}

fn scheme_help(scheme: &str) -> String {
    match scheme {
        "ws" => "write `http://…`: WebSockets pass through".to_owned(),
        "wss" => "write `https://…`: WebSockets pass through".to_owned(),
        "grpc" | "http2" => "write `h2c://…`, or `h2://…` over TLS".to_owned(),
        "grpcs" => "write `h2://…`".to_owned(),
        _ => match nearest(scheme, SCHEMES.iter().map(|(known, ..)| *known)) {
            Some(known) => format!("write `{known}://…`"),
            None => "write `http`, `https`, `h2c`, `h2` or `unix:`".to_owned(),
        },
    }
}
