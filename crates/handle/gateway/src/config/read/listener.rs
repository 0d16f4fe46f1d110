use std::path::PathBuf;

use leat_message::Profile;

use super::{address, file};
use crate::config::model::{Certificate, ClientCertificates, Listener, ProxyProtocol, ServerTls, TlsVersion};
use crate::config::table::{Key, Kind, Open, Section, Text};

const ADDRESS: Kind = Kind::Text { what: "an address", example: "127.0.0.1:8080" };
const CERT: Kind = Kind::Text { what: "a file", example: "cert.pem" };
const KEY: Kind = Kind::Text { what: "a file", example: "key.pem" };
const NETWORK: Kind = Kind::Text { what: "a network", example: "10.0.0.0/8" };

const PROFILES: &[(&str, &str)] = &[
    ("compatible", "accepts legal oddities that real clients send"),
    ("strict", "refuses every doubtful form with 400 and closes"),
];

const VERSIONS: &[(&str, &str)] = &[("1.2", "TLS 1.2 and 1.3"), ("1.3", "TLS 1.3 alone")];

const CLIENTS: &[(&str, &str)] = &[
    ("required", "the handshake fails"),
    ("optional", "the handshake goes on, and `auth` with `client_certificate` decides route by route"),
];

static CERTIFICATE: Section = Section::new(
    "certificate",
    "a certificate",
    "A certificate chain and its private key. The files are watched and read again when they change.",
    &[
        Key::required("cert", CERT, "The chain, PEM, the server's own certificate first.").aka(&[
            "certificate",
            "chain",
            "crt",
        ]),
        Key::required("key", KEY, "The private key, PEM.").aka(&["private_key"]),
    ],
);

static TLS: Section = Section::new(
    "tls",
    "the `tls` section",
    "TLS of a listener.",
    &[
        Key::required(
            "certificates",
            Kind::List { of: &Kind::Section(&CERTIFICATE), one: true },
            "Certificates; the server name that a client asks for picks one, and the first is for clients that name none.",
        )
        .aka(&["cert", "key", "certs"]),
        Key::default("min_version", Kind::Choice(VERSIONS), "1.2", "The oldest version that is accepted."),
        Key::optional("client_ca", CERT, "Asks clients for a certificate that one of these authorities signed, PEM. A reload reads it again.")
            .aka(&["client_auth", "mtls"]),
        Key::default(
            "client_certificate",
            Kind::Choice(CLIENTS),
            "required",
            "What becomes of clients without one, where `client_ca` asks for it.",
        ),
    ],
);

static PROXY_PROTOCOL: Section = Section::new(
    "proxy_protocol",
    "the `proxy_protocol` section",
    "The PROXY protocol, versions 1 and 2, of a load balancer in front.",
    &[Key::required(
        "trust",
        Kind::List { of: &NETWORK, one: true },
        "The load balancers: connections from these networks, and all to a Unix socket, must start with a PROXY header; no others may.",
    )],
);

pub(super) static LISTENER: Section = Section::new(
    "listener",
    "a listener",
    "An address where connections are accepted.",
    &[
        Key::default(
            "address",
            ADDRESS,
            "127.0.0.1:8080",
            "`host:port` with an IP address (port 0 takes a free one), a port alone for `127.0.0.1`, `unix:/path` or `unix:/path,mode=660` for a Unix socket, `fd:3` for an inherited socket, `systemd:NAME` for one of systemd's.",
        )
        .aka(&["listen", "bind", "port", "host"]),
        Key::default(
            "http2",
            Kind::Flag,
            "true",
            "Whether HTTP/2 is spoken: by ALPN with `tls`, by prior knowledge without.",
        )
        .aka(&["h2", "h2c"]),
        Key::optional("tls", Kind::Section(&TLS), "Encrypts connections.").aka(&["ssl", "https"]),
        Key::optional(
            "proxy_protocol",
            Kind::Section(&PROXY_PROTOCOL),
            "Takes client addresses from the PROXY protocol.",
        ),
        Key::default("profile", Kind::Choice(PROFILES), "compatible", "How doubtful but legal requests are treated."),
    ],
)
.shorthand("address");

pub(super) fn read_listener(open: &Open<'_>) -> Option<Listener> {
    let address = open.text("address").and_then(|text| address::bind(open.reader, text));
    let http2 = open.flag("http2");
    let tls = open.section_if("tls").map(|section| read_tls(&section));
    let proxy_protocol = open.section_if("proxy_protocol").map(|section| read_proxy_protocol(&section));
    let profile =
        open.choice("profile", &[("compatible", Profile::Compatible), ("strict", Profile::Strict)]).unwrap_or_default();
    Some(Listener {
        address: address?,
        http2,
        tls: tls.flatten(),
        proxy_protocol: proxy_protocol.flatten(),
        profile,
        place: open.place(),
    })
}

fn read_tls(open: &Open<'_>) -> Option<ServerTls> {
    let sections = open.sections("certificates");
    if let (true, Some(place)) = (sections.is_empty(), open.place_of("certificates")) {
        open.reader.problem_help(place, "`certificates` is empty", "add `- { cert: cert.pem, key: key.pem }`");
    }
    let certificates = sections
        .iter()
        .filter_map(|section| {
            let (cert, key) = pair(section, section.text("cert"), section.text("key"));
            Some(Certificate { cert: cert?, key: key?, place: section.place() })
        })
        .collect();
    let min_version = open
        .choice("min_version", &[("1.2", TlsVersion::Tls12), ("1.3", TlsVersion::Tls13)])
        .unwrap_or(TlsVersion::Tls12);
    let authorities = open.text("client_ca").map(|text| file::pem(open.reader, text, "CERTIFICATE", "certificate"));
    let required = open.choice("client_certificate", &[("required", true), ("optional", false)]).unwrap_or(true);
    if let (None, Some(place)) = (&authorities, open.place_of("client_certificate")) {
        let message = "`client_certificate` without `client_ca`: no client is asked";
        open.reader.problem_help(place, message, "add `client_ca: ca.pem`, the authorities that may have signed it");
    }
    let clients = authorities.flatten().map(|authorities| ClientCertificates { authorities, required });
    Some(ServerTls { certificates, min_version, clients })
}

/// The files of a certificate and of its key.
fn pair(open: &Open<'_>, cert: Option<Text<'_>>, key: Option<Text<'_>>) -> (Option<PathBuf>, Option<PathBuf>) {
    (
        cert.and_then(|text| file::pem(open.reader, text, "CERTIFICATE", "certificate")),
        key.and_then(|text| file::pem(open.reader, text, "PRIVATE KEY", "private key")),
    )
}

fn read_proxy_protocol(open: &Open<'_>) -> Option<ProxyProtocol> {
    let texts = open.texts("trust");
    if let (true, Some(place)) = (texts.is_empty(), open.place_of("trust")) {
        open.reader.problem_help(place, "`trust` is empty", "list the networks of the load balancers: `[10.0.0.0/8]`");
    }
    let trust = texts.into_iter().filter_map(|text| address::network(open.reader, text)).collect();
    Some(ProxyProtocol { trust })
}
