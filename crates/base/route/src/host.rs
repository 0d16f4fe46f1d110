use std::fmt;

/// The longest host name, in bytes (RFC 1035 section 2.3.4).
const HOST_BYTES_MAX: usize = 253;

/// Which hosts a route is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Host {
    /// Every host, and requests without one.
    #[default]
    Any,
    /// The name itself, in lower case.
    Exact(String),
    /// Every name below this suffix, one label or more; the suffix is in lower case and starts with its dot.
    Below(String),
}

/// What is wrong with a host pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostError {
    /// Nothing there.
    Empty,
    /// A port, which routes do not look at.
    Port,
    /// A scheme or a path.
    Url,
    /// `*` elsewhere than as the whole first label.
    Wildcard,
    /// A character that no host name has.
    Character(char),
    /// Longer than a host name may be.
    Long,
    /// An empty label.
    Label,
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the host is empty"),
            Self::Port => f.write_str("a host is matched without its port"),
            Self::Url => f.write_str("a host is a name alone, without scheme or path"),
            Self::Wildcard => f.write_str("`*` may only stand for the first labels, as in `*.example.org`"),
            Self::Character(c) if !c.is_ascii() => {
                write!(f, "`{c}` is not allowed in a host; international names are written as `xn--…`")
            }
            Self::Character(c) => write!(f, "`{}` is not allowed in a host", c.escape_default()),
            Self::Long => write!(f, "a host has at most {HOST_BYTES_MAX} characters"),
            Self::Label => f.write_str("a label of the host is empty (two dots in a row, or one at the start)"),
        }
    }
}

impl std::error::Error for HostError {}

impl Host {
    /// Reads `*`, `*.example.org`, `example.org`, `127.0.0.1` or `[::1]`, in any case, with or without a final dot.
    ///
    /// # Errors
    /// For anything else, and for a port.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        if text == "*" {
            return Ok(Self::Any);
        }
        if text.contains("://") || text.contains('/') {
            return Err(HostError::Url);
        }
        if let Some(inner) = text.strip_prefix('[') {
            return Self::parse_v6(inner);
        }
        let (wildcard, name) = match text.strip_prefix("*.") {
            Some(name) => (true, name),
            None => (false, text),
        };
        if let Some((_, port)) = name.rsplit_once(':')
            && (port.is_empty() || port.bytes().all(|b| b.is_ascii_digit() || b == b'*'))
        {
            return Err(HostError::Port);
        }
        if name.contains('*') {
            return Err(HostError::Wildcard);
        }
        let name = name.strip_suffix('.').unwrap_or(name);
        if name.is_empty() {
            return Err(HostError::Empty);
        }
        if let Some(wrong) = name.chars().find(|c| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '.' | '_')) {
            return Err(HostError::Character(wrong));
        }
        if name.split('.').any(str::is_empty) {
            return Err(HostError::Label);
        }
        if name.len() > HOST_BYTES_MAX {
            return Err(HostError::Long);
        }
        let name = name.to_ascii_lowercase();
        Ok(if wildcard { Self::Below(format!(".{name}")) } else { Self::Exact(name) })
    }

    fn parse_v6(inner: &str) -> Result<Self, HostError> {
        let Some((address, after)) = inner.split_once(']') else {
            return Err(HostError::Character('['));
        };
        if after.starts_with(':') {
            return Err(HostError::Port);
        }
        if let Some(wrong) = after.chars().next() {
            return Err(HostError::Character(wrong));
        }
        match address.parse::<std::net::Ipv6Addr>() {
            Ok(_) => Ok(Self::Exact(format!("[{}]", address.to_ascii_lowercase()))),
            Err(_) => Err(HostError::Character(address.chars().next().unwrap_or(']'))),
        }
    }

    /// Whether `host` (lower case, no port, no final dot) is one of these.
    pub fn matches(&self, host: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(name) => name.as_bytes() == host,
            Self::Below(suffix) => host.len() > suffix.len() && host.ends_with(suffix.as_bytes()),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Exact(name) => f.write_str(name),
            Self::Below(suffix) => write!(f, "*{suffix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read_or_refused() {
        for (text, wanted) in [
            ("*", Ok(Host::Any)),
            ("Example.ORG", Ok(Host::Exact("example.org".into()))),
            ("example.org.", Ok(Host::Exact("example.org".into()))),
            ("*.example.org", Ok(Host::Below(".example.org".into()))),
            ("127.0.0.1", Ok(Host::Exact("127.0.0.1".into()))),
            ("[::1]", Ok(Host::Exact("[::1]".into()))),
            ("[FE80::1]", Ok(Host::Exact("[fe80::1]".into()))),
            ("a_b.local", Ok(Host::Exact("a_b.local".into()))),
            ("", Err(HostError::Empty)),
            ("*.", Err(HostError::Empty)),
            ("example.org:80", Err(HostError::Port)),
            ("[::1]:80", Err(HostError::Port)),
            ("http://example.org", Err(HostError::Url)),
            ("example.org/x", Err(HostError::Url)),
            ("a.*.org", Err(HostError::Wildcard)),
            ("*example.org", Err(HostError::Wildcard)),
            ("a..org", Err(HostError::Label)),
            (".org", Err(HostError::Label)),
            ("bücher.example", Err(HostError::Character('ü'))),
            ("a b", Err(HostError::Character(' '))),
        ] {
            assert_eq!(Host::parse(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_wildcard_takes_one_label_or_more_and_not_the_bare_name() {
        let host = Host::parse("*.example.org").unwrap();
        for (name, wanted) in [
            ("a.example.org", true),
            ("a.b.example.org", true),
            ("example.org", false),
            (".example.org", false),
            ("aexample.org", false),
        ] {
            assert_eq!(host.matches(name.as_bytes()), wanted, "{name}");
        }
    }
}
