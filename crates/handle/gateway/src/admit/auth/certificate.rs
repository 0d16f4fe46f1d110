use std::cell::RefCell;
use std::rc::Rc;

use leat_message::{Peer, Reason};

use super::certificate_names::{CertificateNames, names_of};
use super::generations::Generations;
use super::identity::Identity;
use super::scheme::Found;

/// Certificates that a core remembers: of connections, which stay.
const REMEMBERED_MAX: usize = 1_024;

/// What is asked of clients' certificates besides that an authority of the listener signed them.
#[derive(Clone, Debug, Default)]
pub(crate) struct CertificateRules {
    /// Names of which a certificate must have one, in lower case, some with `*.` in front; empty: any certificate.
    pub(crate) names: Vec<Box<str>>,
    /// The field that tells the upstream the subject.
    pub(crate) subject_field: Option<Box<str>>,
    /// The field that tells it the other names, with commas between.
    pub(crate) names_field: Option<Box<str>>,
}

/// Asks for a client's certificate, which the handshake has verified (mTLS).
pub(super) struct CertificateCheck {
    rules: CertificateRules,
    remembered: RefCell<Generations<[u8; 32], Option<Rc<Identity>>>>,
}

impl CertificateCheck {
    pub(super) fn new(rules: CertificateRules) -> Self {
        Self { rules, remembered: RefCell::new(Generations::new(REMEMBERED_MAX / 2, usize::MAX)) }
    }

    /// A digest of the certificate and a look-up for one that is remembered.
    pub(super) fn ask(&self, peer: &Peer) -> Found {
        let shown = peer.tls.as_ref().and_then(|tls| tls.client.as_ref()).filter(|client| client.problem.is_none());
        let Some(der) = shown.and_then(|client| client.chain.first()) else { return Found::Absent };
        let mark = super::api_key::sha256(der);
        let mut remembered = self.remembered.borrow_mut();
        let identity = match remembered.get(&mark) {
            Some(identity) => identity.clone(),
            None => {
                let identity = names_of(der).and_then(|names| self.identity(&names)).map(Rc::new);
                remembered.put(mark, identity.clone(), 1);
                identity
            }
        };
        identity.map_or(Found::Refused(Reason::AuthCertificateUnknown), Found::Known)
    }

    fn identity(&self, names: &CertificateNames) -> Option<Identity> {
        let is_wanted = |name: &str| self.rules.names.iter().any(|wanted| matches(wanted, name));
        if !self.rules.names.is_empty() && !names.alternative.iter().any(|name| is_wanted(name)) {
            return None;
        }
        let mut identity = Identity::new(names.subject.as_str());
        if let Some(field) = &self.rules.subject_field {
            identity.tell(&Rc::from(&**field), names.subject.as_bytes());
        }
        if let Some(field) = &self.rules.names_field {
            // A name with a comma could pass for two.
            let names: Vec<&str> =
                names.alternative.iter().map(String::as_str).filter(|name| !name.contains(',')).collect();
            identity.tell(&Rc::from(&**field), names.join(",").as_bytes());
        }
        Some(identity)
    }
}

/// Whether a name is the wanted one; `*.` stands for one label.
fn matches(wanted: &str, name: &str) -> bool {
    match wanted.strip_prefix("*.") {
        Some(rest) => {
            name.split_once('.').is_some_and(|(label, tail)| !label.is_empty() && tail.eq_ignore_ascii_case(rest))
        }
        None => wanted.eq_ignore_ascii_case(name),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_one_label() {
        for (wanted, name, is_match) in [
            ("a.example", "A.example", true),
            ("a.example", "b.example", false),
            ("*.example", "a.example", true),
            ("*.example", "a.b.example", false),
            ("*.example", ".example", false),
            ("*.example", "example", false),
            ("spiffe://x/y", "spiffe://x/y", true),
        ] {
            assert_eq!(matches(wanted, name), is_match, "{wanted} {name}");
        }
    }
}
