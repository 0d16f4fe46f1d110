use std::rc::Rc;

use leat_message::Reason;
use leat_stream::{Plain, Socket};
use rustix::net::RecvFlags;
use tokio_rustls::TlsStream;

use super::TlsSettings;
use crate::{Protocol, receive};

/// What a handshake led to.
pub(crate) struct Shaken {
    pub(crate) socket: Socket,
    pub(crate) protocol: Protocol,
    /// In lower case.
    pub(crate) server_name: Option<Rc<str>>,
}

/// Whether what waits in the socket begins as plain HTTP does, with a method's letter, where a TLS record should be
/// (RFC 8446 section 5.1: its first byte is 22). Waits for the first byte and leaves it there.
pub(crate) async fn is_plain_http(socket: &Plain) -> bool {
    let mut first = [0];
    matches!(receive::some(socket, &mut first, RecvFlags::PEEK).await, Ok(1)) && first[0].is_ascii_alphabetic()
}

/// Shakes hands as the server. The caller limits the time.
pub(crate) async fn handshake(socket: Plain, settings: &TlsSettings) -> Result<Shaken, Reason> {
    let stream = settings.acceptor().accept(socket).await.map_err(|_| Reason::TlsHandshake)?;
    let (_, connection) = stream.get_ref();
    let protocol = match connection.alpn_protocol() {
        Some(b"h2") => Protocol::Http2,
        _ => Protocol::Http1,
    };
    let server_name = connection.server_name().map(|name| Rc::from(name.to_ascii_lowercase()));
    Ok(Shaken { socket: Socket::from(TlsStream::from(stream)), protocol, server_name })
}
