use leat_route::Methods;

/// Which web pages of other origins may use a route (the Fetch standard, section 3.2 "CORS protocol").
#[derive(Clone, Debug)]
pub struct Cors {
    pub(super) origins: Origins,
    pub(super) methods: Methods,
    /// Methods and fields as a list; none for whatever is asked for.
    pub(super) methods_list: Option<String>,
    pub(super) fields: Option<Vec<String>>,
    pub(super) exposed: Option<String>,
    pub(super) credentials: bool,
    pub(super) private_network: bool,
    pub(super) age_s: String,
}

impl Cors {
    /// Whose pages may.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// Whether pages may use this method.
    pub fn allows_method(&self, method: &[u8]) -> bool {
        self.methods.contains(method)
    }

    /// The methods that pages may use, separated by commas; `None` for all of them.
    pub fn methods_list(&self) -> Option<&str> {
        self.methods_list.as_deref()
    }

    /// Whether pages may send a field of this name.
    pub fn allows_field(&self, name: &[u8]) -> bool {
        let allowed = |fields: &Vec<String>| fields.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(name));
        self.fields.as_ref().is_none_or(allowed)
    }

    /// The fields of a reply that pages may read beside those that they always may, separated by commas.
    pub fn exposed(&self) -> Option<&str> {
        self.exposed.as_deref()
    }

    /// Whether the browser sends cookies and other credentials along.
    pub fn credentials(&self) -> bool {
        self.credentials
    }

    /// Whether pages of a public network may reach this server in a private one.
    pub fn private_network(&self) -> bool {
        self.private_network
    }

    /// How long a browser may remember the answer to a preflight request, in seconds, as text.
    pub fn age_s(&self) -> &str {
        &self.age_s
    }
}

/// Origins of web pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origins {
    /// All.
    Any,
    /// These.
    Listed(Vec<Origin>),
}

/// An origin, or all below a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This one, as browsers write it: scheme, host, and a port that is not the scheme's own; or `null`.
    Exactly(String),
    /// Any host below a name: what stands before the host's labels, and what stands behind them, dot included.
    Below(String, String),
}

impl Origins {
    /// Whether a page of this origin may. Browsers write origins in lower case.
    pub fn admits(&self, origin: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(list) => list.iter().any(|listed| listed.admits(origin)),
        }
    }
}

impl Origin {
    fn admits(&self, origin: &[u8]) -> bool {
        match self {
            Self::Exactly(own) => own.as_bytes() == origin,
            Self::Below(before, behind) => {
                let labels =
                    origin.strip_prefix(before.as_bytes()).and_then(|rest| rest.strip_suffix(behind.as_bytes()));
                let is_host = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._".contains(byte);
                labels.is_some_and(|labels| !labels.is_empty() && labels.iter().all(is_host))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Origin;

    #[test]
    fn below_a_name_are_hosts_alone() {
        let origin = Origin::Below("https://".to_owned(), ".example.com:8443".to_owned());
        for (text, wanted) in [
            ("https://a.example.com:8443", true),
            ("https://a.b.example.com:8443", true),
            ("https://.example.com:8443", false),
            ("https://example.com:8443", false),
            ("https://a.example.com", false),
            ("http://a.example.com:8443", false),
            ("https://evil.test/.example.com:8443", false),
            ("https://evil.test:1.example.com:8443", false),
            ("https://evil@a.example.com:8443", false),
        ] {
            assert_eq!(origin.admits(text.as_bytes()), wanted, "{text}");
        }
    }
}
