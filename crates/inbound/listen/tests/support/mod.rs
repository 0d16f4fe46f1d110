//! A core to run tests on, certificates, and clients.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use leat_listen::{Accepted, CertificateFiles, Gate, Inherited, Listener, ListenerSet, ServeOptions};
use leat_message::{Limits, Reason};
use leat_stream::{Buffer, Socket};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// How long a test waits for what should happen at once.
pub const SOON: Duration = Duration::from_secs(10);

/// Runs a future as a core of the engine would: a thread of its own, a current-thread runtime, the core's clock.
pub fn on_core<F, Fut, T>(body: F) -> T
where
    F: FnOnce() -> Fut + Send,
    Fut: Future<Output = T>,
    T: Send,
{
    std::thread::scope(|scope| {
        scope
            .spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                tokio::task::LocalSet::new().block_on(&runtime, async {
                    tokio::task::spawn_local(leat_stream::clock::run());
                    tokio::time::timeout(Duration::from_secs(60), body()).await.expect("the test hangs")
                })
            })
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

pub fn bind(addresses: &[&str], workers: usize) -> ListenerSet {
    let addresses: Vec<_> = addresses.iter().map(|address| address.parse().unwrap()).collect();
    ListenerSet::bind(&addresses, workers, Inherited::none()).unwrap()
}

/// Serves a listener on the current core; accepted connections come out of the channel.
pub fn serve(listener: Listener, gate: &Arc<Gate>, options: ServeOptions) -> UnboundedReceiver<Accepted> {
    let (accepted, connections) = unbounded_channel();
    let gate = Arc::clone(gate);
    tokio::task::spawn_local(async move {
        leat_listen::serve(listener, gate, options, move |connection| {
            let _ = accepted.send(connection);
        })
        .await
        .unwrap();
    });
    connections
}

pub fn gate(change: impl FnOnce(&mut Limits)) -> Arc<Gate> {
    let mut limits = Limits::default();
    change(&mut limits);
    Gate::new(&limits)
}

pub async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(SOON, future).await.expect("this should have happened by now")
}

/// Waits until `condition` holds.
pub async fn until(condition: impl Fn() -> bool) {
    soon(async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}

pub async fn until_refused(gate: &Gate, reason: Reason, count: u64) {
    until(|| gate.refused(reason) >= count).await;
    assert_eq!(gate.refused(reason), count, "{reason}");
}

/// Reads at least `count` bytes of a server's socket.
pub async fn read(socket: &mut Socket, count: usize) -> Vec<u8> {
    let mut buffer = Buffer::default();
    while buffer.bytes().len() < count {
        let read = soon(std::future::poll_fn(|cx| buffer.poll_fill(socket, cx, 1 << 20))).await.unwrap();
        assert_ne!(read, 0, "the stream ended early");
    }
    buffer.bytes().to_vec()
}

/// Everything until the other side closes; a reset counts as a close.
pub async fn read_to_close(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = soon(stream.read_to_end(&mut bytes)).await;
    bytes
}

/// A directory of this test's own, removed with it.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("leat-listen-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Makes a self-signed certificate for `names` and writes it to `NAME.pem` and `NAME.key`.
pub fn certificate(folder: &Folder, file: &str, names: &[&str]) -> (CertificateFiles, CertificateDer<'static>) {
    certificate_with(folder, file, names, &rcgen::PKCS_ECDSA_P256_SHA256)
}

pub fn certificate_with(
    folder: &Folder,
    file: &str,
    names: &[&str],
    algorithm: &'static rcgen::SignatureAlgorithm,
) -> (CertificateFiles, CertificateDer<'static>) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let key = rcgen::KeyPair::generate_for(algorithm).unwrap();
    let certificate = rcgen::CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
    let files =
        CertificateFiles { chain: folder.path(&format!("{file}.pem")), key: folder.path(&format!("{file}.key")) };
    write(&files.chain, &certificate.pem());
    write(&files.key, &key.serialize_pem());
    (files, certificate.der().clone())
}

pub fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

/// A client that looks at certificates but believes them all.
pub fn client(alpn: &[&[u8]]) -> ClientConfig {
    let mut config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Believe(None)))
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    config
}

/// A client that can verify only these signatures.
pub fn client_with_schemes(schemes: &[SignatureScheme]) -> ClientConfig {
    ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Believe(Some(schemes.to_vec()))))
        .with_no_client_auth()
}

pub type ClientStream<IO> = tokio_rustls::client::TlsStream<IO>;

/// Opens TLS over `io` for `name`; an empty name sends no SNI.
pub async fn connect_tls<IO>(config: &ClientConfig, name: &str, io: IO) -> std::io::Result<ClientStream<IO>>
where
    IO: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let mut config = config.clone();
    config.enable_sni = !name.is_empty();
    let name = if name.is_empty() { "none.test" } else { name };
    let name = ServerName::try_from(name.to_owned()).unwrap();
    soon(tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, io)).await
}

#[derive(Debug)]
struct Believe(Option<Vec<SignatureScheme>>);

impl ServerCertVerifier for Believe {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        match &self.0 {
            Some(schemes) => schemes.clone(),
            None => default_provider().signature_verification_algorithms.supported_schemes(),
        }
    }
}

/// A verifier that believes everything.
pub fn believe() -> Arc<dyn ServerCertVerifier> {
    Arc::new(Believe(None))
}
