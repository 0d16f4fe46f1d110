use super::{Read, own_field};
use crate::admit::auth::CertificateRules;
use crate::config::auth::AuthKind;
use crate::config::table::{Key, Kind, Open, Section};

const NAME: Kind = Kind::Text { what: "a name", example: "billing.internal" };
const FIELD: Kind = Kind::Text { what: "a field name", example: "x-client-subject" };

pub(super) static CERTIFICATE: Section = Section::new(
    "client_certificate",
    "the `client_certificate` section",
    "A certificate that an authority of the listener (`client_ca`) signed.",
    &[
        Key::optional(
            "names",
            Kind::List { of: &NAME, one: true },
            "DNS names or URIs of which the certificate (subjectAltName) must have one; `*.` stands for one label. Without it: any certificate.",
        )
        .aka(&["san", "sans"]),
        Key::optional(
            "subject_header",
            FIELD,
            "The field that tells the upstream the subject (RFC 4514). What clients send under this name is removed.",
        ),
        Key::optional(
            "names_header",
            FIELD,
            "The field that tells it the DNS names and URIs, with commas between. What clients send under this name is removed.",
        ),
    ],
);

pub(super) fn read(open: &Open<'_>) -> Read {
    if let Some(place) = open.empty_list("names") {
        open.reader.problem_help(place, "`names` is empty: nobody would be let in", "leave it out to take any");
    }
    let names = open.texts("names").into_iter().map(|text| text.value.into()).collect();
    let field = |name: &str| open.text(name).map(|text| own_field(open, text));
    let (subject, others) = (field("subject_header"), field("names_header"));
    let own: Vec<String> = [&subject, &others].into_iter().flatten().flatten().cloned().collect();
    let boxed = |name: Option<Option<String>>| name.flatten().map(String::into_boxed_str);
    let rules = CertificateRules { names, subject_field: boxed(subject), names_field: boxed(others) };
    Some((AuthKind::Certificate(rules), own))
}
