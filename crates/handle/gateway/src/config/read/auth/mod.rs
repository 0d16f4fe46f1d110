//! The schemes of authentication, and which of them a route asks.

mod api_keys;
mod basic;
mod certificate;
mod external;
mod jwt;
mod route;
pub(super) mod secret;
pub(super) mod url;

use std::collections::HashMap;

use super::edits;
use super::rate_limit::Known;
use super::route::upstream_or_route_name;
use crate::config::auth::{AuthKind, AuthScheme, RouteAuth};
use crate::config::fields::FieldEdits;
use crate::config::model::Listener;
use crate::config::problem::Place;
use crate::config::table::{Group, Key, Kind, Open, Section, Text, shorten};

pub(super) use jwt::read_claim;
pub(super) use route::{ROUTE_AUTH, read_route_auth};
pub(super) use secret::{secret_file, variable as secret_variable};

/// What reading one kind yields: the kind, and the fields that clients may not send past it.
type Read = Option<(AuthKind, Vec<String>)>;

pub(super) static AUTH_SCHEME: Section = Section::new(
    "auth",
    "a scheme of `auth`",
    "A way to find out who a request is from; routes name it in their `auth`. Exactly one of the keys but `hide_credentials`.",
    &[
        Key::optional("jwt", Kind::Section(&jwt::JWT), "JSON Web Tokens in `Authorization: Bearer`.")
            .aka(&["bearer", "oidc", "oauth2", "token"]),
        Key::optional("api_keys", Kind::Section(&api_keys::API_KEYS), "Keys of programs in a field.")
            .aka(&["api_key", "keys", "key_auth"]),
        Key::optional("basic", Kind::Section(&basic::BASIC), "Users and passwords in `Authorization: Basic`.")
            .aka(&["basic_auth", "htpasswd"]),
        Key::optional(
            "client_certificate",
            Kind::Section(&certificate::CERTIFICATE),
            "Certificates that clients show in the TLS handshake; the listener asks for them with `client_ca`.",
        )
        .aka(&["mtls", "certificate"]),
        Key::optional("external", Kind::Section(&external::EXTERNAL), "Another service's word on each request.")
            .aka(&["forward_auth", "ext_authz", "auth_request"]),
        Key::default(
            "hide_credentials",
            Kind::Flag,
            "false",
            "Whether the field that carries the credential goes no further than here.",
        ),
    ],
)
.groups(&[Group { keys: &["jwt", "api_keys", "basic", "client_certificate", "external"], required: true }])
.secret();

/// Reads all schemes; those that are wrong are `None`, so that routes that name them are fine all the same.
pub(super) struct Schemes {
    names: HashMap<String, usize>,
    used: Vec<bool>,
    places: Vec<Place>,
    read: Vec<Option<AuthScheme>>,
}

impl Schemes {
    pub(super) fn read(open: &Open<'_>) -> Self {
        let mut schemes = Self { names: HashMap::new(), used: Vec::new(), places: Vec::new(), read: Vec::new() };
        for (pair, section) in open.section_pairs("auth") {
            if upstream_or_route_name(&pair.key).is_none() || !pair.key.is_ascii() {
                open.reader.problem_help(
                    pair.place,
                    format!("the name `{}` of a scheme is not letters, digits, `-`, `_` and `.`", shorten(&pair.key)),
                    "write for example `users:`",
                );
            }
            schemes.names.insert(pair.key.clone(), schemes.read.len());
            schemes.used.push(false);
            schemes.places.push(pair.place);
            schemes.read.push(read_scheme(&section, &pair.key, pair.place));
        }
        schemes
    }

    fn find(&mut self, name: &str) -> Option<usize> {
        let index = *self.names.get(name)?;
        if let Some(used) = self.used.get_mut(index) {
            *used = true;
        }
        Some(index)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    fn is_jwt(&self, index: usize) -> bool {
        let scheme = self.read.get(index).and_then(Option::as_ref);
        scheme.is_none_or(|scheme| matches!(scheme.kind, AuthKind::Jwt(_)))
    }

    /// What a route with these schemes knows of its clients, at best. One that is wrong may know anything.
    pub(super) fn known(&self, auth: &RouteAuth) -> Known {
        let is_external = |index: &usize| {
            let scheme = self.read.get(*index).and_then(Option::as_ref);
            scheme.is_some_and(|scheme| matches!(scheme.kind, AuthKind::External(_)))
        };
        match () {
            () if auth.schemes.iter().any(|index| self.is_jwt(*index)) => Known::Claims,
            () if auth.schemes.iter().all(is_external) => Known::Admitted,
            () => Known::Names,
        }
    }

    /// Warns of changes to fields that a route's schemes tell of the client by, who have the last word.
    pub(super) fn warn_told(&self, open: &Open<'_>, auth: &RouteAuth, edits: &FieldEdits) {
        for (name, _) in edits.set().iter().chain(edits.add()) {
            let tells = |scheme: &&AuthScheme| scheme.told_fields.iter().any(|told| told.eq_ignore_ascii_case(name));
            let schemes = auth.schemes.iter().filter_map(|&index| self.read.get(index)?.as_ref());
            let Some(scheme) = schemes.into_iter().find(tells) else { continue };
            open.reader.warn(
                open.place_of("request_headers").unwrap_or(open.place()),
                format!(
                    "`{name}` is what the scheme `{}` tells of the client: what is put here goes nowhere",
                    scheme.name
                ),
                "leave it out, or choose another name",
            );
        }
    }

    /// The scheme whose keys come in this field, where one has it.
    pub(super) fn with_field(&self, field: &str) -> Option<&str> {
        let carries = |scheme: &&AuthScheme| match &scheme.kind {
            AuthKind::ApiKeys(keys) => keys.header.eq_ignore_ascii_case(field),
            _ => false,
        };
        self.read.iter().flatten().find(carries).map(AuthScheme::name)
    }

    /// Certificates are only looked at where a listener asks for them.
    pub(super) fn check_certificates(&self, open: &Open<'_>, listeners: &[Listener]) {
        let asks = |listener: &Listener| listener.tls().is_some_and(|tls| tls.clients().is_some());
        if listeners.iter().any(asks) {
            return;
        }
        let certificates = self.read.iter().flatten().filter(|scheme| matches!(scheme.kind, AuthKind::Certificate(_)));
        for scheme in certificates {
            open.reader.problem_help(
                scheme.place,
                "no listener asks clients for certificates: nobody would be let in",
                "add `client_ca` to the `tls` section of a listener",
            );
        }
    }

    pub(super) fn warn_unused(&self, open: &Open<'_>) {
        for (name, &index) in &self.names {
            if let (Some(false), Some(&place)) = (self.used.get(index), self.places.get(index)) {
                let message = format!("no route uses the scheme `{name}`");
                open.reader.warn(
                    place,
                    message,
                    format!("write `auth: {name}` in the routes that it is for, or remove it"),
                );
            }
        }
    }

    /// The schemes, if every one is fine.
    pub(super) fn finish(self) -> Option<Vec<AuthScheme>> {
        self.read.into_iter().collect()
    }
}

fn read_scheme(open: &Open<'_>, name: &str, place: Place) -> Option<AuthScheme> {
    let hides = open.flag("hide_credentials");
    let jwt = open.section_if("jwt").map(|section| jwt::read(&section));
    let api_keys = open.section_if("api_keys").map(|section| api_keys::read(&section));
    let basic = open.section_if("basic").map(|section| basic::read(&section, name));
    let certificate = open.section_if("client_certificate").map(|section| certificate::read(&section));
    let external = open.section_if("external").map(|section| external::read(&section));
    let (kind, told_fields) = [jwt, api_keys, basic, certificate, external].into_iter().flatten().next().flatten()?;
    let mut hidden_field = None;
    if hides {
        match &kind {
            AuthKind::Jwt(_) | AuthKind::Basic(_) => hidden_field = Some("authorization".to_owned()),
            AuthKind::ApiKeys(keys) => hidden_field = Some(keys.header.clone()),
            AuthKind::Certificate(_) | AuthKind::External(_) => open.reader.warn(
                open.place_of("hide_credentials").unwrap_or(place),
                "`hide_credentials` does nothing in this scheme",
                "remove it; what an external service looks at goes on to the upstream as it is",
            ),
        }
    }
    Some(AuthScheme { name: name.to_owned(), kind, told_fields, hidden_field, place })
}

/// The name of a field that a scheme sets, in lower case.
fn own_field(open: &Open<'_>, text: Text<'_>) -> Option<String> {
    edits::editable(open.reader, text, edits::Way::Request).map(|name| name.to_ascii_lowercase())
}
