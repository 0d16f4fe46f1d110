use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use leat_stream::{Plain, Socket};
use leat_trust::{Authorities, Distrust};
use rustls::ClientConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::{TlsConnector, TlsStream};

use crate::{Problem, Target};

/// TLS towards servers: whom to trust, and who we are. Equal for equal settings; connections share its sessions.
#[derive(Clone)]
pub struct Security {
    identity: u64,
    config: Arc<ClientConfig>,
    name: Option<ServerName<'static>>,
}

/// What a file must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecurityError {
    /// The authorities: at least one certificate in PEM.
    Authorities,
    /// The client's certificate, in PEM.
    Certificate,
    /// The client's key, in PEM; of that certificate.
    Key,
    /// A host name or an address.
    ServerName,
}

impl Security {
    /// Trusts the `authorities` (PEM), without them the public ones; shows `client` (a chain and its key, PEM) to servers
    /// that ask for it; verifies servers by `name`, without it by the host that is connected to.
    ///
    /// # Errors
    /// Which of them can't be used.
    pub fn new(
        authorities: Option<&[u8]>,
        client: Option<(&[u8], &[u8])>,
        name: Option<&str>,
    ) -> Result<Self, SecurityError> {
        let mut hasher = DefaultHasher::new();
        (authorities, client, name).hash(&mut hasher);
        let authorities = match authorities {
            Some(pem) => Authorities::pem(pem).map_err(|_| SecurityError::Authorities)?,
            None => Authorities::public(),
        };
        let builder = authorities.client();
        let config = match client {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => {
                let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
                let chain = chain.ok().filter(|chain| !chain.is_empty()).ok_or(SecurityError::Certificate)?;
                let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| SecurityError::Key)?;
                builder.with_client_auth_cert(chain, key).map_err(|_| SecurityError::Key)?
            }
        };
        let name = name.map(|name| ServerName::try_from(name.to_owned()).map_err(|_| SecurityError::ServerName));
        Ok(Self { identity: hasher.finish(), config: Arc::new(config), name: name.transpose()? })
    }

    /// Does the handshake with the server at `target`.
    ///
    /// # Errors
    /// What was wrong, in words.
    pub(crate) async fn secure(&self, plain: Plain, target: &Target) -> Result<Socket, Problem> {
        let name = match (&self.name, target) {
            (Some(name), _) => name.clone(),
            (None, Target::Tcp(host, _)) => ServerName::try_from(host.clone())
                .map_err(|_| Problem::Tls("its host is no name that a certificate could have".to_owned()))?,
            (None, Target::Unix(_)) => return Err(Problem::Tls("a Unix socket has no name to verify".to_owned())),
        };
        let connector = TlsConnector::from(Arc::clone(&self.config));
        let stream = connector.connect(name, plain).await.map_err(|error| Problem::Tls(words(&error)))?;
        Ok(Socket::from(TlsStream::Client(stream)))
    }
}

/// What rustls says, without the time, which is another one at each try, so that each would be told of.
fn words(error: &std::io::Error) -> String {
    match Distrust::of(error) {
        Some(distrust @ (Distrust::Expired | Distrust::NotYetValid)) => distrust.to_string(),
        _ => error.to_string(),
    }
}

impl PartialEq for Security {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl Eq for Security {}

impl Hash for Security {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity.hash(state);
    }
}

impl fmt::Debug for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Security").field(&self.identity).finish()
    }
}
