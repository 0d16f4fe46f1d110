use std::path::Path;

use leat_dial::{Endpoint, EndpointLimits, Protocol, Target, Trust};

/// A gRPC server: where it is, and whether it is asked over TLS.
#[derive(Clone, Debug)]
pub struct Backend {
    endpoint: Endpoint,
    authority: String,
}

impl Backend {
    /// Reads `host:port`, `http://host:port` (HTTP/2 without TLS), `https://host:port` (the port may be missing) or
    /// `unix:/path`. `ca` are authorities to trust instead of the public ones, PEM.
    ///
    /// # Errors
    /// What is wrong with the text, or with the authorities, in words for a person.
    pub fn parse(text: &str, ca: Option<&Path>) -> Result<Self, String> {
        let (is_tls, rest) = match text.split_once("://") {
            Some(("https", rest)) => (true, rest),
            Some(("http", rest)) => (false, rest),
            Some((scheme, _)) => {
                return Err(format!("`{scheme}` is no scheme of a gRPC server: write `http` or `https`"));
            }
            None => (false, text),
        };
        let place = rest.strip_suffix('/').unwrap_or(rest);
        if place.contains(['@', '?', '#']) {
            return Err("a gRPC server is a host and a port: nothing else may stand in its address".to_owned());
        }
        let has_port = place.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let place = if is_tls && !has_port { format!("{place}:443") } else { place.to_owned() };
        let target = Target::parse(&place).map_err(|error| error.to_string())?;
        let trust = match (is_tls, ca) {
            (false, _) => None,
            (true, None) => Some(Trust::public()),
            (true, Some(path)) => Some(Trust::file(path).map_err(|error| error.to_string())?),
        };
        let protocol = if is_tls { Protocol::H2Tls } else { Protocol::H2c };
        let endpoint = Endpoint::new(target, protocol, trust, None, EndpointLimits::default());
        let endpoint = endpoint.map_err(|error| error.to_string())?;
        let authority = if place.starts_with("unix:") { "localhost".to_owned() } else { place };
        Ok(Self { endpoint, authority })
    }

    /// The endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The host that is asked for, with its port.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &'static str {
        if self.endpoint.protocol().is_tls() { "https" } else { "http" }
    }
}

#[cfg(test)]
mod tests {
    use super::Backend;

    #[test]
    fn a_backend_is_a_place_with_or_without_a_scheme() {
        for (text, shown) in [
            ("127.0.0.1:9000", "http 127.0.0.1:9000"),
            ("http://localhost:80/", "http localhost:80"),
            ("https://api.example", "https api.example:443"),
            ("https://api.example:8443", "https api.example:8443"),
            ("unix:/run/a.sock", "http localhost"),
        ] {
            let backend = Backend::parse(text, None).unwrap();
            assert_eq!(format!("{} {}", backend.scheme(), backend.authority()), shown, "{text}");
        }
        for (text, why) in [
            ("127.0.0.1", "port"),
            ("ftp://a:1", "scheme"),
            ("http://u@a:1", "nothing else"),
            ("http://a:1/x", "endpoint"),
            ("http://a:0", "port"),
        ] {
            let message = Backend::parse(text, None).unwrap_err();
            assert!(message.contains(why), "{text}: {message}");
        }
    }
}
