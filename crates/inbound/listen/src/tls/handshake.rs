use std::rc::Rc;

use leat_message::{HostPolicy, TlsInfo};
use leat_stream::{Plain, Socket};
use rustix::net::RecvFlags;
use rustls::ProtocolVersion;
use rustls::server::ServerConnection;
use tokio_rustls::TlsStream;

use super::{TlsProblem, TlsSettings};
use crate::{Protocol, receive};

/// What a handshake led to.
pub(crate) struct Shaken {
    pub(crate) socket: Socket,
    pub(crate) protocol: Protocol,
    pub(crate) info: TlsInfo,
}

/// Whether what waits in the socket begins as plain HTTP does, with a method's letter, where a TLS record should be
/// (RFC 8446 section 5.1: its first byte is 22). Waits for the first byte and leaves it there.
pub(crate) async fn is_plain_http(socket: &Plain) -> bool {
    let mut first = [0];
    matches!(receive::some(socket, &mut first, RecvFlags::PEEK).await, Ok(1)) && first[0].is_ascii_alphabetic()
}

/// Shakes hands as the server. The caller limits the time.
///
/// # Errors
/// What went wrong, and the socket, to which the alert that says so was written.
pub(crate) async fn handshake(
    socket: Plain,
    settings: &TlsSettings,
    hosts: &Rc<dyn HostPolicy>,
) -> Result<Shaken, (TlsProblem, Plain)> {
    let accepting = settings.acceptor().accept(socket).into_fallible();
    let stream = accepting.await.map_err(|(error, socket)| (TlsProblem::of(&error), socket))?;
    let info = info(stream.get_ref().1, settings, Rc::clone(hosts));
    let protocol = if info.alpn == Some("h2") { Protocol::Http2 } else { Protocol::Http1 };
    Ok(Shaken { socket: Socket::from(TlsStream::from(stream)), protocol, info })
}

fn info(connection: &ServerConnection, settings: &TlsSettings, hosts: Rc<dyn HostPolicy>) -> TlsInfo {
    let shown = settings.judge().zip(connection.peer_certificates());
    TlsInfo {
        server_name: connection.server_name().map(|name| Rc::from(name.to_ascii_lowercase())),
        hosts,
        version: match connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => "TLSv1.3",
            _ => "TLSv1.2",
        },
        cipher: connection.negotiated_cipher_suite().map_or("", |suite| iana_name(suite.suite().as_str())),
        alpn: match connection.alpn_protocol() {
            Some(b"h2") => Some("h2"),
            Some(b"http/1.1") => Some("http/1.1"),
            _ => None,
        },
        client: shown.and_then(|(judge, chain)| judge.certificate(chain)).map(Rc::new),
    }
}

/// The registered name of a suite: rustls names those of TLS 1.3 after the version.
fn iana_name(suite: Option<&'static str>) -> &'static str {
    match suite {
        Some("TLS13_AES_128_GCM_SHA256") => "TLS_AES_128_GCM_SHA256",
        Some("TLS13_AES_256_GCM_SHA384") => "TLS_AES_256_GCM_SHA384",
        Some("TLS13_CHACHA20_POLY1305_SHA256") => "TLS_CHACHA20_POLY1305_SHA256",
        Some(name) => name,
        None => "",
    }
}
