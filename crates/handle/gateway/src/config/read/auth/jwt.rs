use std::sync::Arc;

use rustls_pki_types::SubjectPublicKeyInfoDer;
use rustls_pki_types::pem::PemObject;

use super::{Read, own_field, secret, url};
use crate::admit::auth::{Algorithm, Algorithms, ClaimName, JwtRules, KeySet, VerifyKey, parse_jwks};
use crate::config::auth::{AuthKind, JwksUrl, JwtAuth, JwtKeys};
use crate::config::read::file;
use crate::config::table::{Group, Key, Kind, Open, Reader, Section, Text, nearest};
use crate::config::upstream::EndpointAddress;

const ISSUER: Kind = Kind::Text { what: "an issuer", example: "https://issuer.example" };
const AUDIENCE: Kind = Kind::Text { what: "an audience", example: "api" };
const ALGORITHM: Kind = Kind::Text { what: "an algorithm", example: "RS256" };
const FILE: Kind = Kind::Text { what: "a file", example: "keys.json" };
pub(super) const CLAIM: Kind = Kind::Text { what: "a claim", example: "sub" };

pub(super) static JWT: Section = Section::new(
    "jwt",
    "the `jwt` section",
    "JSON Web Tokens: signed, with an end (`exp`), and for this service. `none` is never taken, nor keys that a token brings or points to.",
    &[
        Key::optional(
            "jwks_url",
            Kind::Text { what: "a URL", example: "https://issuer.example/.well-known/jwks.json" },
            "Where the issuer's keys are. They are fetched at the start and again and again; until there are any, requests are answered with 503.",
        )
        .aka(&["jwks", "jwks_uri"]),
        Key::optional("keys_file", FILE, "A file with the keys: a JWK set, or public keys in PEM.")
            .aka(&["jwks_file", "public_key", "public_key_file", "key_file"]),
        Key::optional("secret_file", FILE, "A file with the secret of HS256, HS384 or HS512.").aka(&["secret"]),
        Key::optional(
            "secret_env",
            Kind::Text { what: "a variable", example: "JWT_SECRET" },
            "A variable of the environment with that secret.",
        ),
        Key::optional("jwks_ca", FILE, "Authorities to trust for `jwks_url` instead of the public ones, PEM."),
        Key::default(
            "jwks_refresh",
            Kind::Time { min_ms: 1_000, max_ms: 86_400_000, off: false },
            "5m",
            "How often the keys are fetched.",
        ),
        Key::default(
            "jwks_pause",
            Kind::Time { min_ms: 100, max_ms: 3_600_000, off: false },
            "10s",
            "A token with an unknown key makes them be fetched at once, and waits for it, but not within this time of the last fetch: then it is refused.",
        ),
        Key::optional(
            "algorithms",
            Kind::List { of: &ALGORITHM, one: true },
            "Algorithms that are taken. Without it: all with public keys, or `HS256` with a secret.",
        )
        .aka(&["algorithm", "alg"]),
        Key::optional("issuer", Kind::List { of: &ISSUER, one: true }, "Who must have issued the token (`iss`), one of these.")
            .aka(&["issuers", "iss"]),
        Key::optional(
            "audience",
            Kind::List { of: &AUDIENCE, one: true },
            "For whom the token must be meant (`aud`), one of these.",
        )
        .aka(&["audiences", "aud"]),
        Key::default(
            "clock_skew",
            Kind::Time { min_ms: 0, max_ms: 600_000, off: false },
            "30s",
            "How far the issuer's clock may be off.",
        )
        .aka(&["leeway", "skew"]),
        Key::optional(
            "headers",
            Kind::Map { key: "field names", of: &CLAIM },
            "Fields that the upstream gets, each with a claim: `x-user: sub`, `x-org: org.id`. What clients send under these names is removed.",
        )
        .aka(&["claims_to_headers", "claim_headers"]),
        Key::default(
            "tokens_remembered_max",
            Kind::Number { min: 0, max: 1_000_000 },
            "10000",
            "Verified tokens that a core remembers, until they end or their key is gone; at most 8 MiB of them.",
        )
        .aka(&["cache"]),
    ],
)
.groups(&[Group { keys: &["jwks_url", "keys_file", "secret_file", "secret_env"], required: true }])
.secret();

pub(super) fn read(open: &Open<'_>) -> Read {
    let is_shared = open.place_of("secret_file").is_some() || open.place_of("secret_env").is_some();
    let algorithms = read_algorithms(open, is_shared);
    let keys = read_keys(open, &algorithms);
    let ca = open.text("jwks_ca").map(|text| file::pem(open.reader, text, "CERTIFICATE", "certificate"));
    let times_ms = (open.time("jwks_refresh").unwrap_or_default(), open.time("jwks_pause").unwrap_or_default());
    let url = open.text("jwks_url").map(|text| read_url(open, text, ca.flatten(), times_ms, &algorithms));
    let (issuers, audiences) = (read_list(open, "issuer"), read_list(open, "audience"));
    let skew_ms = open.time("clock_skew").unwrap_or_default();
    let fields = read_headers(open);
    let remembered_max = open.number("tokens_remembered_max").unwrap_or_default() as usize;
    for name in ["issuer", "audience"] {
        if open.place_of(name).is_none() {
            let message =
                format!("without `{name}`, tokens that these keys signed for something else are taken as well");
            open.reader.warn(open.place(), message, format!("add `{name}`"));
        }
    }
    let keys = match url {
        Some(url) => JwtKeys::Url(url?),
        None => JwtKeys::Fixed(Arc::new(keys?)),
    };
    let own = fields.iter().map(|(name, _)| name.to_string()).collect();
    let algorithms = algorithms.into_iter().collect();
    let rules = JwtRules { algorithms, issuers, audiences, skew_s: skew_ms / 1_000, fields };
    Some((AuthKind::Jwt(JwtAuth { rules, keys, remembered_max }), own))
}

fn read_algorithms(open: &Open<'_>, is_shared: bool) -> Vec<Algorithm> {
    let mut algorithms = Vec::new();
    for text in open.texts("algorithms") {
        match Algorithm::from_name(text.value) {
            Some(algorithm) if algorithm.is_shared() && open.place_of("jwks_url").is_some() => {
                open.reader.problem_help(
                    text.place,
                    format!("`{}` computes with a shared secret, which a URL cannot give", text.value),
                    "leave it out, or use `secret_file` in place of `jwks_url`",
                )
            }
            Some(algorithm) if !algorithm.is_shared() && is_shared => open.reader.problem_help(
                text.place,
                format!("`{}` computes with a public key, not with a secret", text.value),
                "write `HS256`, or use `keys_file` or `jwks_url`",
            ),
            Some(algorithm) => algorithms.push(algorithm),
            None => {
                let names = Algorithm::ALL.map(Algorithm::name);
                let help = match nearest(text.value, names) {
                    _ if text.value.eq_ignore_ascii_case("none") => {
                        "a token without a signature is anybody's".to_owned()
                    }
                    Some(name) => format!("write `{name}`"),
                    None => format!("known are {}", crate::config::table::quoted(names)),
                };
                open.reader.problem_help(
                    text.place,
                    format!("unknown algorithm `{}`", text.value.escape_debug()),
                    help,
                );
            }
        }
    }
    if let Some(place) = open.empty_list("algorithms") {
        open.reader.problem_help(place, "`algorithms` is empty: no token would be taken", "leave it out");
    }
    if open.place_of("algorithms").is_none() {
        let fits = |algorithm: &Algorithm| match is_shared {
            true => *algorithm == Algorithm::Hs256,
            false => Algorithms::public().has(*algorithm),
        };
        algorithms.extend(Algorithm::ALL.into_iter().filter(fits));
    }
    algorithms
}

/// The keys that the configuration itself has.
fn read_keys(open: &Open<'_>, algorithms: &[Algorithm]) -> Option<KeySet> {
    let file = open.text("keys_file").map(|text| read_key_file(open, text, algorithms));
    let in_file = open.text("secret_file").map(|text| (text, secret::secret_file(open.reader, text)));
    let in_environment = open.text("secret_env").map(|text| (text, secret::variable(open.reader, text)));
    if let Some(keys) = file {
        return keys;
    }
    let (text, secret) = in_file.or(in_environment).filter(|_| !algorithms.is_empty())?;
    match VerifyKey::secret(None, &secret?, algorithms.iter().copied()) {
        Ok(key) => Some(KeySet::new(vec![key])),
        Err(error) => {
            open.reader.problem_help(
                text.place,
                error.to_string(),
                "make one with `openssl rand -base64 48`; the issuer needs the same",
            );
            None
        }
    }
}

/// A JWK set, or public keys in PEM. A set in a file may hold shared secrets as well.
fn read_key_file(open: &Open<'_>, text: Text<'_>, algorithms: &[Algorithm]) -> Option<KeySet> {
    let bytes = secret::file(open.reader, text, secret::FILE_BYTES_MAX)?;
    let problem = if bytes.trim_ascii_start().starts_with(b"{") {
        match parse_jwks(&bytes, algorithms.iter().copied().collect(), true) {
            Ok(keys) => return Some(keys),
            Err(error) => error.to_string(),
        }
    } else {
        let blocks: Result<Vec<_>, _> = SubjectPublicKeyInfoDer::pem_slice_iter(&bytes).collect();
        let keys = blocks.ok().map(|blocks| {
            let key = |der: &SubjectPublicKeyInfoDer<'_>| VerifyKey::public(None, der, algorithms.iter().copied());
            blocks.iter().map(key).collect::<Result<Vec<_>, _>>()
        });
        match keys {
            Some(Ok(keys)) if !keys.is_empty() => return Some(KeySet::new(keys)),
            Some(Err(error)) => format!("a key in it is of no use: {error}, or not for these algorithms"),
            _ => "it has no `-----BEGIN PUBLIC KEY-----`".to_owned(),
        }
    };
    open.reader.problem_help(
        text.place,
        format!("the file `{}` has no keys: {problem}", text.value),
        "name a JWK set, or a PEM file such as `openssl pkey -in private.pem -pubout` writes",
    );
    None
}

fn read_url(
    open: &Open<'_>,
    text: Text<'_>,
    ca: Option<std::path::PathBuf>,
    (refresh_ms, pause_ms): (u64, u64),
    algorithms: &[Algorithm],
) -> Option<JwksUrl> {
    let (endpoint, path) = url::read(open, text)?;
    let is_here = match endpoint.address() {
        EndpointAddress::Ip(address) => address.ip().is_loopback(),
        EndpointAddress::Name { host, .. } => host == "localhost",
        EndpointAddress::Unix(_) => true,
    };
    if !endpoint.is_tls() && !is_here {
        open.reader.warn(
            text.place,
            "the keys come over an unencrypted connection: whoever is on its way can put in their own",
            "write `https://…`",
        );
    }
    let algorithms = algorithms.iter().copied().collect();
    Some(JwksUrl { url: text.value.to_owned(), endpoint, path, ca, refresh_ms, pause_ms, algorithms })
}

fn read_list(open: &Open<'_>, name: &str) -> Vec<Box<str>> {
    if let Some(place) = open.empty_list(name) {
        let message = format!("`{name}` is empty: no token would be taken");
        open.reader.problem_help(place, message, "write one, or leave the key out to take any");
    }
    open.texts(name).into_iter().map(|text| text.value.into()).collect()
}

fn read_headers(open: &Open<'_>) -> Vec<(Arc<str>, ClaimName)> {
    let mut fields: Vec<(Arc<str>, ClaimName)> = Vec::new();
    for (pair, values) in open.text_pairs("headers") {
        let Some(name) = own_field(open, Text { value: &pair.key, place: pair.place }) else { continue };
        for text in values {
            if let Some(claim) = read_claim(open.reader, text) {
                fields.push((name.as_str().into(), claim));
            }
        }
    }
    fields
}

pub(in crate::config::read) fn read_claim(reader: &Reader, text: Text<'_>) -> Option<ClaimName> {
    let claim = ClaimName::parse(text.value);
    if claim.is_none() {
        reader.problem_help(
            text.place,
            format!("`{}` is not the name of a claim", text.value.escape_debug()),
            "write for example `sub`, or `org.id` for a member of a member",
        );
    }
    claim
}
